/** An agent that repeats what it hears. A driver for your own agent has the same shape. */
import { InspanError } from '@inspan/protocol'
import type { AgentDriver } from '@inspan/protocol/driver'

/** How often it repeats, and what goes wrong. */
export interface ParrotOptions {
  readonly mood?: 'content' | 'endless' | 'broken'
}

export function parrot({ mood = 'content' }: ParrotOptions = {}): AgentDriver {
  return {
    port: 1,
    id: 'parrot',
    // What it cannot do is an error for whoever asks for it, never silence.
    describe: async () => ({
      governs: 'none',
      continuity: 'native',
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
      systemPrompt: 'none',
      models: null,
      maxSteps: false,
      effort: [],
      output: false,
      limits: false,
      sessions: false,
    }),
    open: async (_binding, host) => {
      const stopping = new AbortController()
      let isClosed = false
      return {
        async *run({ effort, input, turnId }) {
          if (isClosed) throw new InspanError('closed', 'The session is closed.')
          if (effort !== undefined) {
            yield {
              type: 'error',
              error: { name: 'Parrot', message: 'A parrot thinks as it likes.', code: 'unsupported' },
            }
            yield { type: 'finish', finishReason: 'error' }
            return
          }
          const heard = input.map((part) => (part.type === 'text' ? part.text : '')).join('')
          yield { type: 'text-delta', messageId: turnId, partId: '0', text: heard }
          // Either of them ends a turn: whoever runs this session, or whoever runs the whole process.
          const stop = AbortSignal.any([stopping.signal, host.signal])
          if (mood === 'endless' && !stop.aborted) {
            await new Promise((resolve) => stop.addEventListener('abort', resolve, { once: true }))
          }
          if (mood === 'broken')
            yield { type: 'error', error: { name: 'Parrot', message: 'The parrot is asleep.', code: 'asleep' } }
          yield { type: 'finish', finishReason: mood === 'broken' ? 'error' : stop.aborted ? 'other' : 'stop' }
        },
        cancel: async () => {
          stopping.abort()
          return { how: 'clean', calls: [], orphansKilled: 0, queued: [] }
        },
        close: async () => {
          isClosed = true
          stopping.abort()
        },
      }
    },
  }
}
