import type { AgentDriver } from '@inspan/protocol/driver'

/** A foreign agent that does one thing in its folder and says so. */
export function writingDriver(work: (cwd: string) => void): AgentDriver {
  return {
    id: 'foreign',
    port: 1,
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
    }),
    open: async () => ({
      run: async function* ({ cwd }: { readonly cwd?: string }) {
        work(cwd ?? '')
        yield { type: 'text-delta', text: 'Done.' }
        yield { type: 'finish', finishReason: 'stop' }
      },
      cancel: async () => ({ how: 'clean', calls: [], orphansKilled: 0, queued: [] }),
      close: async () => undefined,
    }),
  } as unknown as AgentDriver
}
