import { spawn, type ChildProcess } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { AgentEvent } from '@inspan/protocol'
import type { AgentDriver, Capabilities, Turn } from '@inspan/protocol/driver'

const CAPABILITIES: Capabilities = {
  governs: 'all',
  continuity: 'log',
  steer: 'none',
  resume: 'none',
  fork: 'none',
  handover: 'text',
  hostTools: 'none',
  interrupt: 'clean',
  usage: 'none',
  redaction: 'record',
  images: false,
  mcp: false,
  subagents: false,
  systemPrompt: 'append',
  models: null,
  maxSteps: false,
  effort: [],
  output: false,
  limits: false,
  sessions: false,
}

/** A foreign agent: its program prints a line again and again until it is ended. Each start is a line in the ledger. */
export function programAgent(ledger: string): AgentDriver {
  return {
    port: 1,
    id: 'program',
    describe: async () => CAPABILITIES,
    open: async () => {
      let program: ChildProcess | undefined
      const end = async (): Promise<void> => {
        if (program === undefined || program.exitCode !== null || program.signalCode !== null) return
        const ended = once(program, 'exit')
        program.kill('SIGKILL')
        await ended
      }
      const run = async function* ({ threadId }: Turn): AsyncGenerator<AgentEvent> {
        const child = spawn(process.execPath, ['-e', `setInterval(() => console.log('still here'), 20)`], {
          stdio: ['ignore', 'pipe', 'ignore'],
        })
        program = child
        appendFileSync(ledger, `${threadId} ${child.pid}\n`)
        yield { type: 'start' }
        yield { type: 'step-start', stepIndex: 0 }
        for await (const text of createInterface({ input: child.stdout })) yield { type: 'text-delta', text }
        yield { type: 'finish', finishReason: 'stop' }
      }
      return {
        run,
        cancel: async () => {
          await end()
          return { how: 'clean', calls: [], orphansKilled: 0, queued: [] }
        },
        close: end,
      }
    },
  }
}
