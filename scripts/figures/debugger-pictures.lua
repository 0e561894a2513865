-- A session of nvim-dap for debugger-pictures.sh, whose keys go to the console. Files tell each that the other is ready.
vim.opt.runtimepath:prepend(vim.env.NVIM_DAP)
local dap = require('dap')
local entity, ui, widgets = require('dap.entity'), require('dap.ui'), require('dap.ui.widgets')

vim.opt.number = true
vim.opt.signcolumn = 'yes'
vim.opt.showmode = false
vim.opt.wrap = false
vim.cmd('highlight QuickFixLine cterm=none ctermbg=none')
vim.diagnostic.config({ virtual_text = false })
dap.adapters.ridgepoint = { type = 'executable', command = 'ridgepoint', args = { 'debug', '--dap' } }
vim.cmd('edit saxpy.cu')
vim.api.nvim_win_set_cursor(0, { 3, 0 })
dap.set_breakpoint('blockIdx.x == 3 && threadIdx.x == 17')
local code = vim.api.nvim_get_current_win()
-- Of several scopes nvim-dap 0.4.0 puts the last variable below the next one's name: here is one.
local locals = vim.tbl_extend('force', widgets.scopes, {
  render = function(view)
    local session = dap.session()
    local scopes = session and session.current_frame and session.current_frame.scopes or {}
    for _, scope in pairs(scopes) do
      if scope.name == 'Locals' then ui.new_tree(vim.deepcopy(entity.scope.tree_spec)).render(view.layer(), scope) end
    end
  end,
})
widgets.sidebar(locals, { width = 32 }).open()
dap.repl.open({ height = 13 })
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
    if number == 2 then
      vim.api.nvim_set_current_win(code)
      vim.diagnostic.setloclist({ open = false })
      vim.cmd('lopen 4 | setlocal wrap nonumber')
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
