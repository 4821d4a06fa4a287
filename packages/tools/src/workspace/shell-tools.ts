import { setTimeout as pause } from 'node:timers/promises'
import { InspanError } from '@inspan/protocol'
import type { ToolOutcome } from '@inspan/protocol/driver'
import { OutputWindow } from './output-window.ts'
import type { BackgroundProcess } from './processes.ts'
import type { CommandExit, RunningCommand } from './shell.ts'
import { activity, characterLimit, workspaceTool, type ToolCall, type WorkspaceTool } from './tool-kit.ts'

const DEFAULT_TIMEOUT_MS = 120_000
const MAX_TIMEOUT_MS = 2 ** 31 - 1
/** Live output is for people; what is beyond is still in the result, as far as that goes. */
const MAX_STREAMED = 1024 * 1024

interface CommandInput {
  readonly command: string
  readonly cwd: string | undefined
  readonly timeout: number | undefined
  readonly background: boolean
}

const executeCommand: WorkspaceTool = workspaceTool({
  name: 'execute_command',
  description:
    'Run a shell command. With `background` it goes on after this call; look at it with get_process_output and end it ' +
    'with kill_process.',
  category: 'execute',
  properties: {
    command: { type: 'string' },
    cwd: { type: 'string', description: 'Default: the workspace.' },
    timeout: { type: 'integer', minimum: 1, description: `Milliseconds. Default: ${DEFAULT_TIMEOUT_MS}.` },
    background: { type: 'boolean' },
  },
  required: ['command'],
  parse: (input): CommandInput => ({
    command: input.filled('command'),
    cwd: input.optionalText('cwd'),
    timeout: input.count('timeout'),
    background: input.flag('background'),
  }),
  execute: (input, call) => (input.background ? inBackground(input, call) : inForeground(input, call)),
})

async function inForeground(
  { command, cwd, timeout = DEFAULT_TIMEOUT_MS }: CommandInput,
  call: ToolCall,
): Promise<ToolOutcome> {
  const { run } = call
  const most = characterLimit(call.config, 10_000)
  const output = { stdout: new OutputWindow(most), stderr: new OutputWindow(most) }
  let streamed = 0
  const running = await start({ command, cwd }, call, (text, stream) => {
    output[stream].add(text)
    streamed += text.length
    if (streamed <= MAX_STREAMED) run.progress(text, stream)
  })
  const { exit, isLate } = await endOf(running, Math.min(timeout, MAX_TIMEOUT_MS), run.signal)
  const { exitCode, signal } = exit
  const isSuccess = exitCode === 0 && !isLate
  return {
    result: {
      exitCode,
      stdout: output.stdout.toString(),
      stderr: output.stderr.toString(),
      ...(signal === null ? {} : { signal }),
      ...(isLate ? { timedOut: true, timeout } : {}),
    },
    ...(isSuccess ? {} : { isError: true }),
    activity: commandActivity(command, cwd, exitCode, isSuccess),
  }
}

async function endOf(
  running: RunningCommand,
  timeout: number,
  signal: AbortSignal,
): Promise<{ exit: CommandExit; isLate: boolean }> {
  const over = new AbortController()
  const stopped = Promise.withResolvers<'stopped'>()
  const stop = (): void => stopped.resolve('stopped')
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  try {
    const late = pause(timeout, 'late' as const, { signal: over.signal }).catch(() => 'over' as const)
    const first = await Promise.race([running.ended, late, stopped.promise])
    if (typeof first === 'object') return { exit: first, isLate: false }
    await running.kill()
    return { exit: await running.ended, isLate: first === 'late' }
  } finally {
    over.abort()
    signal.removeEventListener('abort', stop)
  }
}

async function inBackground({ command, cwd }: CommandInput, call: ToolCall): Promise<ToolOutcome> {
  const started = await call.processes.start(call.run.threadId, command, (onOutput) =>
    start({ command, cwd }, call, onOutput),
  )
  const { id, running } = started
  return {
    result: { processId: id, ...(running.pid === undefined ? {} : { pid: running.pid }), status: 'running' },
    activity: activity({ type: 'command', command, ...(cwd === undefined ? {} : { workingDirectory: cwd }) }),
  }
}

function start(
  { command, cwd }: Pick<CommandInput, 'command' | 'cwd'>,
  { run, shell }: ToolCall,
  onOutput: (text: string, stream: 'stdout' | 'stderr') => void,
): Promise<RunningCommand> {
  if (command.includes('\0')) throw new InspanError('invalid-input', 'A command cannot contain a NUL character.')
  const { allowedPaths } = run
  return shell.run({
    command,
    onOutput,
    ...(cwd === undefined ? {} : { cwd }),
    ...(allowedPaths === undefined ? {} : { allowed: allowedPaths }),
  })
}

const getProcessOutput: WorkspaceTool = workspaceTool({
  name: 'get_process_output',
  description: 'Get the output of a background process. With `wait` it waits for the end of the process first.',
  category: 'read',
  properties: {
    processId: { type: 'string' },
    wait: { type: 'boolean' },
    timeout: {
      type: 'integer',
      minimum: 1,
      description: `How many milliseconds to wait. Default: ${DEFAULT_TIMEOUT_MS}.`,
    },
  },
  required: ['processId'],
  parse: (input) => ({
    processId: input.filled('processId'),
    wait: input.flag('wait'),
    timeout: input.count('timeout') ?? DEFAULT_TIMEOUT_MS,
  }),
  execute: async ({ processId, timeout, wait }, call) => {
    const process = call.processes.get(call.run.threadId, processId)
    if (wait && process.exit === undefined) await waitFor(process, Math.min(timeout, MAX_TIMEOUT_MS), call.run.signal)
    return reportOf(process, characterLimit(call.config, 10_000))
  },
})

async function waitFor({ running }: BackgroundProcess, timeout: number, signal: AbortSignal): Promise<void> {
  const over = new AbortController()
  const either = AbortSignal.any([over.signal, signal])
  await Promise.race([running.ended, pause(timeout, undefined, { signal: either }).catch(() => undefined)])
  over.abort()
}

const killProcess: WorkspaceTool = workspaceTool({
  name: 'kill_process',
  description: 'End a background process and everything it started.',
  category: 'execute',
  properties: { processId: { type: 'string' } },
  required: ['processId'],
  parse: (input) => ({ processId: input.filled('processId') }),
  execute: async ({ processId }, call) => {
    const process = call.processes.get(call.run.threadId, processId)
    await process.running.kill()
    process.exit = await process.running.ended
    return reportOf(process, characterLimit(call.config, 10_000))
  },
})

function reportOf({ command, exit, id, output }: BackgroundProcess, most: number): ToolOutcome {
  const shown = new OutputWindow(most)
  shown.add(output.toString())
  const ended =
    exit === undefined ? {} : { exitCode: exit.exitCode, ...(exit.signal === null ? {} : { signal: exit.signal }) }
  return {
    result: { processId: id, status: exit === undefined ? 'running' : 'ended', ...ended, output: shown.toString() },
    activity:
      exit === undefined
        ? activity({ type: 'command', command })
        : commandActivity(command, undefined, exit.exitCode, exit.exitCode === 0),
  }
}

function commandActivity(
  command: string,
  cwd: string | undefined,
  exitCode: number | null,
  isSuccess: boolean,
): ReturnType<typeof activity> {
  return activity({
    type: 'command',
    command,
    ...(cwd === undefined ? {} : { workingDirectory: cwd }),
    ...(exitCode === null ? {} : { exitCode }),
    isSuccess,
  })
}

export const SHELL_TOOLS: readonly WorkspaceTool[] = [executeCommand, getProcessOutput, killProcess]
