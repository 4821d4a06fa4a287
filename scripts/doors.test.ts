/** What packages export is there for somebody else: another package, an example or a page of the docs. */
import assert from 'node:assert/strict'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { exportsOf, type Declaration } from './docs/declarations.ts'
import { toSource, type Manifest } from './pack-exports.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
/** Names that only programs of users need, which none of ours shows. */
const FOR_USERS: ReadonlySet<string> = new Set(
  [
    // Errors to be told from others, and generators for tests of one's own.
    'ErrorCode FaultInjected WaitFailed arbitraryId arbitraryTasks arbitraryText',
    // Names of the SDK's page.
    'AgentSDKErrorType CliHarnessFactory EnvConnectivityResolver createClaudeModel resolveToolApprovalMode',
    'DefaultAgentConnectivityResolver ChatEventType MessagePart ToolResultInfo',
    'DEFAULT_MAX_STEPS McpServerErrorCategory McpServerStatus SUPPORTED_PROTOCOL_VERSIONS RequestContext',
    // Classes that are exported as the types of members, and names that programs of users import.
    'ServerRoutes SessionSignals assignTaskIds studioPages defaultDisplayState defaultOMProgressState',
    // What the members of exported classes and functions take and return.
    'ActivityDraft AgentInput ApiKeyResolverOptions BrowserToolsOptions CliHarnessOptions McpOAuthOptions EnvResolverOptions HarnessRequestContext',
    'HarnessSubject LineSpan LineStreamOptions MessageListQuery MessagePage ModelSwitch NativeHarnessOptions',
    'QueuedFollowUp RunNote ScoredRun ScriptedHarnessOptions StateUpdate ThreadRewind TokenInfo',
    // What the schemas of the protocol check.
    'AgentConfigJson ControlRecord',
    // The types that events have.
    'ActivityType AgentEventType HarnessEventType',
  ].flatMap((line) => line.split(' ')),
)

interface Door {
  readonly folder: string
  readonly door: string
  readonly names: readonly Declaration[]
}

function doors(): readonly Door[] {
  return readdirSync(join(root, 'packages')).flatMap((folder) => {
    const place = join(root, 'packages', folder)
    const { exports } = toSource(JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as Manifest)
    return Object.entries(exports ?? {}).flatMap(([door, file]) =>
      typeof file === 'string' && file.endsWith('.ts') ? [{ folder, door, names: exportsOf(join(place, file)) }] : [],
    )
  })
}

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.match(/\w+/g))

const readAll = (globs: readonly string[]): readonly { readonly file: string; readonly text: string }[] =>
  globSync([...globs], { cwd: root }).map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))

const sources = readAll(['packages/*/{src,test,web}/**/*.{ts,tsx}', '{examples,scripts}/**/*.{ts,tsx,mjs}'])
const pages = readAll(['docs/{guide,internals}/*.md', 'packages/*/README.md', 'README.md'])
/** The names that pages show as code. */
const shown = wordsOf(pages.flatMap(({ text }) => text.match(/```[^]*?```|`[^`\n]+`/g) ?? []).join(' '))

const IMPORT = /(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s*from\s*'([^']+)'/g
const WHOLE = /(?:import\(|import \* as \w+ from )'([^']+)'/g

/** Returns the names that a file imports from each module: all its words for one that it imports as a whole. */
function importsOf(file: string, text: string): ReadonlyMap<string, ReadonlySet<string>> {
  const named = [...text.matchAll(IMPORT)].map(([, names = '', module = '']) => ({ module, names }))
  const whole = [...text.matchAll(WHOLE)].map(([, module = '']) => ({ module, names: text }))
  const found = new Map<string, ReadonlySet<string>>()
  for (const { module, names } of [...named, ...whole]) {
    const from = module.startsWith('.') ? join(dirname(file), module) : module
    found.set(from, new Set([...(found.get(from) ?? []), ...wordsOf(names)]))
  }
  return found
}

const imports = sources.map(({ file, text }) => ({ file, from: importsOf(file, text) }))

/** Returns whether anything outside of a package uses what it exports: a page, or a source that imports it. */
function isUsed({ door, folder }: Door, { name }: Declaration): boolean {
  if (FOR_USERS.has(name) || shown.has(name)) return true
  // The engine has a door of its own, which the rest of core goes through by its path.
  const isEngine = folder === 'core' && door === './engine'
  const own = isEngine ? 'packages/core/src/engine/' : `packages/${folder}/`
  const modules = [join('@inspan', folder, door), ...(isEngine ? [`${own}index.ts`] : [])]
  return imports.some(
    ({ file, from }) => !file.startsWith(own) && modules.some((module) => from.get(module)?.has(name) === true),
  )
}

const isType = ({ kind }: Declaration): boolean => kind === 'interface' || kind === 'type'

describe('doors', () => {
  it('export no function, class or constant that only their own package uses', () => {
    const unused = doors().flatMap((door) => {
      return door.names.flatMap((each) =>
        isType(each) || isUsed(door, each) ? [] : [`${join(door.folder, door.door)}: ${each.name}`],
      )
    })
    assert.deepEqual(unused, [])
  })

  it('export no type that nobody uses and that no other export needs', () => {
    const all = doors()
    const exported = all.flatMap(({ names }) =>
      names.map(({ name, signature, members, bases }) => {
        const types = members.map(({ type }) => type)
        return { name, named: wordsOf([signature, ...types, ...bases].join(' ')) }
      }),
    )
    const unused = all.flatMap((door) => {
      return door.names.flatMap((each) => {
        const isNeeded = exported.some(({ name, named }) => name !== each.name && named.has(each.name))
        return !isType(each) || isNeeded || isUsed(door, each) ? [] : [`${join(door.folder, door.door)}: ${each.name}`]
      })
    })
    assert.deepEqual(unused, [])
  })
})
