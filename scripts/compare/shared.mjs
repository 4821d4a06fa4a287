/** What the three programs have in common, and what is not counted: the model, the tool's work and the data of the program. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { z } from 'zod'

export const isRestarted = process.argv[2] === 'restarted'
// The first process waits with its question until it is killed.
if (!isRestarted) setInterval(() => undefined, 60_000)
export const description = 'Deploys a version.'
export const inputSchema = z.object({ version: z.string() })

/** The work of the tool. How often it was done is read from the file. */
export async function deploy({ version }) {
  appendFileSync('deployed.txt', `${version}\n`)
  return `deployed ${version}`
}

/** Prints what the driver of the comparison waits for. */
export function report(what) {
  process.stdout.write(`${what}\n`)
}

export function readSaved() {
  return existsSync('saved.json') ? JSON.parse(readFileSync('saved.json', 'utf8')) : undefined
}

export function save(state) {
  writeFileSync('saved.json', JSON.stringify(state))
}

const usage = { inputTokens: { total: 1, noCache: 1 }, outputTokens: { total: 1, text: 1 } }
const input = JSON.stringify({ version: '1.2' })

/** Calls the tool, and says "Done." once it has a result. */
export const model = {
  specificationVersion: 'v3',
  provider: 'compare',
  modelId: 'compare',
  supportedUrls: {},
  doStream: async ({ prompt }) => {
    const isDone = prompt.some(({ role }) => role === 'tool')
    const parts = isDone
      ? [
          { type: 'text-start', id: '0' },
          { type: 'text-delta', id: '0', delta: 'Done.' },
          { type: 'text-end', id: '0' },
        ]
      : [{ type: 'tool-call', toolCallId: 'call-1', toolName: 'deploy', input }]
    const reason = isDone ? 'stop' : 'tool-calls'
    const finish = { type: 'finish', usage, finishReason: { unified: reason, raw: reason } }
    return { stream: ReadableStream.from([{ type: 'stream-start', warnings: [] }, ...parts, finish]) }
  },
}

/** A coding agent with the same behaviour, for a library that drives agents instead of models. */
export const codingAgent = {
  specificationVersion: 'harness-v1',
  harnessId: 'compare',
  builtinTools: {},
  doStart: async ({ sessionId, continueFrom, resumeFrom }) => {
    const state = { harnessId: 'compare', specificationVersion: 'harness-v1', data: {} }
    const call = { type: 'tool-call', toolCallId: 'call-1', toolName: 'deploy', input, stepToolCallCount: 1 }
    const turn = ({ emit }, isContinued) => {
      const done = Promise.withResolvers()
      if (!isContinued) {
        emit({ type: 'stream-start' })
        emit(call)
      }
      return {
        done: done.promise,
        submitToolResult: async () => {
          emit({ type: 'text-start', id: '0' })
          emit({ type: 'text-delta', id: '0', delta: 'Done.' })
          emit({ type: 'text-end', id: '0' })
          const finishReason = { unified: 'stop' }
          emit({ type: 'finish-step', finishReason, usage })
          emit({ type: 'finish', finishReason, totalUsage: usage })
          done.resolve()
        },
      }
    }
    return {
      sessionId,
      isResume: continueFrom !== undefined || resumeFrom !== undefined,
      doPromptTurn: async (options) => turn(options, false),
      doContinueTurn: async (options) => turn(options, true),
      doCompact: async () => undefined,
      doSuspendTurn: async () => ({ type: 'continue-turn', ...state }),
      doDetach: async () => ({ type: 'resume-session', ...state }),
      doStop: async () => ({ type: 'resume-session', ...state }),
      doDestroy: async () => undefined,
    }
  },
}

/** The coding agent above runs in this process, so its sandbox only has to answer. */
export const sandboxSession = {
  run: async () => ({ exitCode: 0, stdout: '/tmp', stderr: '' }),
}
