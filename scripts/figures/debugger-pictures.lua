-- A session of nvim-dap for debugger-pictures.sh, whose keys go to the console. Files tell each that the other is ready.
vim.opt.runtimepath:prepend(vim.env.NVIM_DAP)
local dap = require('dap')
local widgets = require('dap.ui.widgets')

vim.opt.number = true
vim.opt.signcolumn = 'yes'
vim.opt.showmode = false
vim.opt.wrap = false
vim.diagnostic.config({ virtual_text = false, update_in_insert = true })
dap.adapters.ridgepoint = { type = 'executable', command = 'ridgepoint', args = { 'debug', '--dap' } }
vim.cmd('edit saxpy.cu')
vim.api.nvim_win_set_cursor(0, { 3, 0 })
dap.set_breakpoint('blockIdx.x == 3 && threadIdx.x == 17')
local code = vim.api.nvim_get_current_win()
local scopes = widgets.sidebar(widgets.scopes, { width = 48 })
dap.repl.open({ height = 14 })
local console = vim.fn.bufwinid(vim.fn.bufnr('dap-repl'))

local function when_there_is(path, act)
  if vim.fn.filereadable(path) == 1 then return act() end
  vim.defer_fn(function() when_there_is(path, act) end, 50)
end
local stops = 0
dap.listeners.after.event_stopped['pictures'] = function()
  stops = stops + 1
  local number = stops
  vim.defer_fn(function()
    if number == 1 then
      scopes.open()
    else
      vim.api.nvim_set_current_win(code)
      vim.diagnostic.open_float({ scope = 'buffer', header = '', prefix = '', max_width = 60, close_events = { 'BufLeave' } })
    end
    vim.cmd('echo ""')
    vim.api.nvim_set_current_win(console)
    vim.cmd('startinsert!')
    io.open('stop-' .. number, 'w'):close()
  end, 1000)
  when_there_is('seen-' .. number, function()
    dap.clear_breakpoints()
    vim.defer_fn(dap.continue, 300)
  end)
end
dap.run({ type = 'ridgepoint', request = 'launch', name = 'saxpy', program = './saxpy', args = { '1280' }, cwd = vim.fn.getcwd() })
