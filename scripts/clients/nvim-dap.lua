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

-- A variable's value as Neovim has it at this stop; not a register's, for which it asks where a person unfolds them.
local function shown(name)
  for _, scope in ipairs(dap.session().current_frame.scopes) do
    local variable = (scope.variables or {})[name]
    if variable then return variable.value end
  end
end

-- nvim-dap 0.4.0 has no watchpoints of its own, but sends what it is told to.
local function watch(element, and_then)
  local session = dap.session()
  session:request('dataBreakpointInfo', { name = element }, function(_, info)
    session:request('setDataBreakpoints', { breakpoints = { { dataId = info.dataId } } }, function(_, set)
      say('watchpoint: %s %s', tostring(set.breakpoints[1].verified), info.description)
      and_then()
    end)
  end)
end

-- Long enough for Neovim to have seen all of a stop, and what it has set to have arrived.
local pause = 300
local motions = {
  function()
    dap.session():evaluate('%r1', function(_, register)
      say('parameters: %s, %s', shown('arg0'), shown('arg1'))
      say('thread: %s of block %s, %%r1 = %s', shown('threadIdx.x'), shown('blockIdx.x'), register.result)
      dap.step_over()
    end)
  end,
  dap.step_back,
  -- To the write of the element, without another stop at the line.
  function()
    dap.clear_breakpoints()
    watch('arg3.f32[785]', function() vim.defer_fn(dap.continue, pause) end)
  end,
  -- Over the write, and to the finding.
  dap.step_over,
  dap.continue,
  -- To the last write, and, as there is none before it, to the beginning.
  dap.reverse_continue,
  dap.reverse_continue,
  function()
    dap.session():request('setDataBreakpoints', { breakpoints = {} }, function() vim.defer_fn(dap.continue, pause) end)
  end,
  function()
    dap.terminate()
    vim.defer_fn(function() vim.cmd('qa!') end, pause)
  end,
}
-- The thread's element. Not `%r1`: it has no value yet where the launch begins.
local index = 'blockIdx.x * blockDim.x + threadIdx.x'
local stops = 0
dap.listeners.after.event_stopped['session'] = function(session, stop)
  stops = stops + 1
  session:request('stackTrace', { threadId = stop.threadId }, function(_, stack)
    local frame = stack.stackFrames[1]
    session:request('evaluate', { expression = index, frameId = frame.id }, function(_, value)
      -- As Neovim has it, which may have asked for it long ago.
      local thread = session.threads[stop.threadId].name
      say('%s: %s, %s:%d, element %s', stop.reason, thread, frame.name, frame.line, value.result)
      vim.defer_fn(motions[stops], pause)
    end)
  end)
end
dap.listeners.after.event_breakpoint['session'] = function(_, body)
  say('breakpoint: %s %d', tostring(body.breakpoint.verified), body.breakpoint.line)
end
dap.run({ type = 'ridgepoint', request = 'launch', name = 'saxpy', program = './saxpy', args = { '1280' }, cwd = vim.fn.getcwd() })
