import { join } from 'node:path'
import { flag } from '../launch/args.ts'
import type { LaunchPlan, LaunchRequest } from '../launch/launch-plan.ts'
import type { SessionChoice } from '../launch/native-session.ts'
import { offeredTools, type NativeTools } from '../launch/offered-tools.ts'
import type { PrivateFile } from '../launch/private-dir.ts'
import { imageEnding, promptOf } from '../launch/prompt.ts'
import { piProfile } from './profile.ts'
import { piServers } from './servers.ts'

export interface PiLaunchOptions {
  /** The model's provider. The model may also be written as `provider/model`. */
  readonly provider?: string
  /** Further command line arguments. */
  readonly args?: readonly string[]
}

const TOOLS: NativeTools = {
  categories: {
    read: ['read', 'grep', 'find', 'ls'],
    edit: ['edit', 'write'],
    execute: ['bash', 'powershell'],
    other: [],
  },
  harmless: [],
  kinds: {
    shell: ['bash', 'powershell'],
    read: ['read'],
    search: ['grep'],
    list: ['find', 'ls'],
    write: ['write'],
    edit: ['edit'],
    'web-search': [],
    'web-fetch': [],
    subagent: [],
    skill: [],
  },
}
/** If it were named, Pi would offer it on every system. */
const ABSENT: ReadonlySet<string> = new Set(process.platform === 'win32' ? [] : ['powershell'])
const WHY = 'It has no permissions: a tool is there or not.'

/**
 * Returns how to start `pi --print` for one turn. The prompt goes to standard input: it may be long, and is hidden
 * there. Extensions of the user and the project's `.pi` are left out, because rules do not bind them.
 */
export function launchPi(request: LaunchRequest, options: PiLaunchOptions = {}): LaunchPlan {
  const { title } = piProfile
  const { instructions, dir } = request
  const { offered, mcp, deniedMcpTools, warnings } = offeredTools(request, TOOLS, {
    title,
    why: WHY,
    hidesMcpTools: true,
  })
  const servers = piServers(mcp, deniedMcpTools)
  const tools = [...[...offered].filter((name) => !ABSENT.has(name)), ...servers.tools]
  const { text, images } = promptOf(request.input, title)
  const pictures = images.map(({ mimeType, data }, index): PrivateFile => ({
    name: `image-${index + 1}.${imageEnding(mimeType)}`,
    content: Buffer.from(data, 'base64'),
  }))
  return {
    args: [
      ...flag('--mode', 'json'),
      '--print',
      ...sessionArgs(request.session),
      ...flag('--provider', options.provider),
      ...flag('--model', request.model),
      ...flag('--thinking', request.effort === 'none' ? 'off' : request.effort),
      ...(tools.length === 0 ? ['--no-tools'] : flag('--tools', tools.join(','))),
      '--no-extensions',
      ...(servers.files.length === 0 ? [] : flag('--extension', 'builtin:mcp')),
      ...servers.files.flatMap(({ name }) => flag('--extension', join(dir, name))),
      '--no-approve',
      ...flag('--append-system-prompt', instructions === undefined ? undefined : join(dir, 'instructions.md')),
      ...(options.args ?? []),
      ...pictures.map(({ name }) => `@${join(dir, name)}`),
    ],
    env: { PI_SKIP_VERSION_CHECK: '1' },
    stdin: text,
    files: [
      ...pictures,
      ...servers.files,
      ...(instructions === undefined ? [] : [{ name: 'instructions.md', content: instructions }]),
    ],
    warnings: [
      ...warnings,
      ...(request.maxSteps === undefined
        ? []
        : [{ message: `${title} cannot be limited to a number of steps.`, code: 'max-steps' }]),
    ],
  }
}

/** Names sessions by their file: Pi looks up an id only among the sessions of the current directory. */
function sessionArgs(session: SessionChoice): readonly string[] {
  switch (session.kind) {
    case 'new':
      return []
    case 'resume':
      return flag('--session', session.nativeId)
    case 'fork':
      return [...flag('--fork', session.nativeId), ...flag('--session-id', session.id)]
  }
}
