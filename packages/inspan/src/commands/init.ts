import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { InspanError } from '@inspan/protocol'
import { checkAgents } from '../check-agents.ts'
import type { InspanCommand, Terminal } from '../command.ts'
import { CONFIG_NAME, configSchema, readConfig } from '../config-file.ts'
import { parseOnlyOptions } from '../parse-options.ts'
import { cliId, CLI_IDS } from '../served-modes.ts'

export const initCommand: InspanCommand = {
  name: 'init',
  help: [
    'Usage: inspan init [options]',
    '',
    `Writes ${CONFIG_NAME} into this folder: the defaults of "inspan run", "chat" and "serve" for the project. It names the`,
    'coding agent or model to use and may deny tools; it cannot allow any. Options of the command line go first.',
    '',
    '  --harness <id>  the coding agent (default: the first that works here):',
    `                  ${CLI_IDS.join(', ')}`,
    '  --model <id>    the model: provider/model for our own loop, or as the coding agent names it',
    '  --check         only check the file that is here',
    '  --schema        print the JSON Schema of the file',
    '',
    'Examples:',
    '  inspan init --harness codex',
    '  inspan init --model anthropic/claude-sonnet-4-5',
    '  inspan init --check',
  ].join('\n'),
  run,
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const values = parseOnlyOptions(args, {
    harness: { type: 'string' },
    model: { type: 'string' },
    check: { type: 'boolean', default: false },
    schema: { type: 'boolean', default: false },
  })
  if (values.schema) {
    terminal.out(JSON.stringify(configSchema(), null, 2))
    return 0
  }
  if (values.check) {
    const config = await readConfig(terminal.cwd)
    terminal.out(JSON.stringify(config))
    return 0
  }
  const file = join(terminal.cwd, CONFIG_NAME)
  if (existsSync(file)) {
    throw new InspanError('already-exists', `${CONFIG_NAME} is already here.`, {
      hint: 'Edit it, then: inspan init --check',
    })
  }
  const cli =
    values.harness === undefined && values.model === undefined
      ? await firstWorking(terminal)
      : values.harness === undefined
        ? undefined
        : cliId(values.harness)
  const config = {
    ...(cli === undefined ? {} : { harness: cli }),
    ...(values.model === undefined ? {} : { model: values.model }),
    deny: [],
    timeout: 3600,
  }
  await writeFile(file, `${JSON.stringify(config, null, 2)}\n`)
  terminal.out(`Written: ${CONFIG_NAME}${cli === undefined ? '' : ` (${cli})`}`)
  if (cli === undefined && values.model === undefined) {
    terminal.err(
      `No coding agent can be used here yet ("inspan doctor" shows what is missing). Name one as "harness", or a model as "model".`,
    )
  }
  return 0
}

async function firstWorking(terminal: Terminal): Promise<string | undefined> {
  const rows = await checkAgents(terminal)
  return rows.find(({ found, hasKey }) => found && hasKey)?.id
}
