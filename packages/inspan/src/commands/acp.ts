import { once } from 'node:events'
import { Readable } from 'node:stream'
import type { InspanCommand, Terminal } from '../command.ts'
import { openStore } from '../data-file.ts'
import { parseOnlyOptions } from '../parse-options.ts'
import { projectAt } from '../project.ts'
import { CLI_IDS, cliId, modesOf } from '../served-modes.ts'
import { version } from '../version.ts'

export const acpCommand: InspanCommand = {
  name: 'acp',
  help: [
    'Usage: inspan acp [options]',
    '',
    'Speaks the Agent Client Protocol (version 1) on standard input and output, as an agent for editors and programs.',
    'Without --model and --harness it is the built-in demo agent. Sessions are threads of the database file.',
    '',
    '  --model <id>        our own loop with this model and the tools of a workspace: provider/model',
    '  --harness <id>      a coding agent, as a mode of its own. Can be repeated:',
    `                      ${CLI_IDS.join(', ')}`,
    '  --db <file>         the database file (default: ~/.inspan/inspan.db)',
    '',
    'Examples, as the command that an editor starts:',
    '  inspan acp --harness claude-code --harness codex',
    '  inspan acp --model anthropic/claude-sonnet-4-5',
  ].join('\n'),
  run,
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const values = parseOnlyOptions(args, {
    model: { type: 'string' },
    harness: { type: 'string', multiple: true, default: [] },
    db: { type: 'string' },
  })
  const ids = values.harness.map(cliId)
  const { model } = values
  const [{ Harness, Workspace }, { ndJsonStream }, { InspanAcpAgent }] = await Promise.all([
    import('@inspan/core'),
    import('@agentclientprotocol/sdk'),
    import('../acp-agent/acp-agent.ts'),
  ])
  const store = await openStore(values.db, terminal)
  const acp = new InspanAcpAgent({
    version: version(),
    store,
    warn: (message) => terminal.err(`inspan acp: ${message}`),
    harnessFor: async (cwd) =>
      new Harness({
        id: 'inspan',
        resourceId: cwd,
        storage: store,
        modes: await modesOf(ids, model, { cwd }),
        project: await projectAt(cwd, terminal),
        ...(model === undefined
          ? {}
          : { workspace: new Workspace({ root: cwd }), permissions: { categories: { read: 'allow' } } }),
      }),
  })
  const output = reserveOutput()
  try {
    const input = Readable.toWeb(terminal.input)
    const connection = acp.app().connect(ndJsonStream(output.stream, input))
    const ended = new AbortController()
    const signals = ENDING.map((signal) => once(process, signal, { signal: ended.signal }).catch(() => undefined))
    await Promise.race([connection.closed, ...signals])
    ended.abort()
    connection.close()
    terminal.input.destroy()
    return 0
  } finally {
    await acp.close()
    await store.close()
    output.release()
  }
}

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Keeps standard output for the protocol alone: whatever else prints there goes to standard error. */
function reserveOutput(): { readonly stream: WritableStream<Uint8Array>; release(): void } {
  const { stderr, stdout } = process
  const write = stdout.write.bind(stdout)
  stdout.write = stderr.write.bind(stderr)
  const stream = new WritableStream<Uint8Array>({
    write: async (chunk) => {
      if (!write(chunk)) await once(stdout, 'drain')
    },
  })
  return {
    stream,
    release: () => {
      stdout.write = write
    },
  }
}
