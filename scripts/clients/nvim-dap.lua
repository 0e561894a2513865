-- A session of nvim-dap: each stop is written to session.log and followed by the next motion.
vim.opt.runtimepath:prepend(vim.env.NVIM_DAP)
local dap = require('dap')
local log = io.open('session.log', 'w')
local function say(...)
  log:write(string.format(...) .. '\n')
  log:flush()
end

dap.adapters.ridgepoint = { type = 'executable', command = 'ridgepoint', args = { 'debug', '--dap' } }
vim.cmd('edit saxpy.cu')
vim.api.nvim_win_set_cursor(0, { 3, 0 })
dap.set_breakpoint('threadIdx.x == 17 && blockIdx.x == 3')

-- Long enough for Neovim to have seen all of a stop, and what it has set to have arrived.
local pause = 300
local motions = {
  dap.step_over,
  dap.step_back,
  function()
    dap.clear_breakpoints()
    vim.defer_fn(dap.continue, pause)
  end,
  dap.reverse_continue,
  function()
    dap.terminate()
    vim.defer_fn(function() vim.cmd('qa!') end, pause)
  end,
}
local stops = 0
dap.listeners.after.event_stopped['session'] = function(session, stop)
  stops = stops + 1
  session:request('stackTrace', { threadId = stop.threadId }, function(_, stack)
    local frame = stack.stackFrames[1]
    session:request('evaluate', { expression = '%r1', frameId = frame.id }, function(_, value)
      say('%s: thread %d, %s:%d, %%r1 = %s', stop.reason, stop.threadId, frame.name, frame.line, value.result)
      vim.defer_fn(motions[stops], pause)
    end)
  end)
end
dap.listeners.after.event_breakpoint['session'] = function(_, body)
  say('breakpoint: %s %d', tostring(body.breakpoint.verified), body.breakpoint.line)
end
dap.run({ type = 'ridgepoint', request = 'launch', name = 'saxpy', program = './saxpy', args = { '1280' }, cwd = vim.fn.getcwd() })
