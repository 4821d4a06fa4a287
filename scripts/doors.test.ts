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
    'FaultInjected WaitFailed arbitraryId arbitraryTasks arbitraryText',
    // Names of the SDK's page.
    'AgentSDKErrorType CliHarnessFactory EnvConnectivityResolver createClaudeModel resolveToolApprovalMode',
    'DefaultAgentConnectivityResolver ChatEventType MessagePart ToolResultInfo',
    // Classes that are exported as the types of members, and names that programs of users import.
    'ServerRoutes SessionSignals assignTaskIds studioPages',
    // What the members of exported classes and functions take and return.
    'ActivityDraft AgentInput ApiKeyResolverOptions CliHarnessOptions EnvResolverOptions HarnessRequestContext',
    'HarnessSubject LineSpan LineStreamOptions MessageListQuery MessagePage ModelSwitch NativeHarnessOptions',
    'QueuedFollowUp RunNote ScoredRun ScriptedHarnessOptions StateUpdate ThreadRewind TokenInfo',
    // What the schemas of the protocol check.
    'AgentConfigJson ControlRecord',
    // The types that events have.
    'ActivityType AgentEventType',
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

const files = globSync(
  ['packages/*/{src,test,web}/**/*.{ts,tsx}', '{examples,scripts}/**/*.{ts,tsx,mjs}', 'docs/{guide,internals}/*.md'],
  {
    cwd: root,
  },
).filter((file) => file !== join('scripts', 'doors.test.ts'))
const words = files.map((file) => ({ file, words: wordsOf(readFileSync(join(root, file), 'utf8')) }))

/** Returns what is read outside of a package. The engine has a door of its own, which the rest of core goes through. */
function readersOf({ door, folder }: Door): readonly ReadonlySet<string>[] {
  const own = folder === 'core' && door === './engine' ? 'packages/core/src/engine/' : `packages/${folder}/`
  return words.filter(({ file }) => !file.startsWith(own)).map((each) => each.words)
}

const isType = ({ kind }: Declaration): boolean => kind === 'interface' || kind === 'type'

describe('doors', () => {
  it('export no function, class or constant that only their own package uses', () => {
    const unused = doors().flatMap((door) => {
      const readers = readersOf(door)
      return door.names.flatMap((each) =>
        isType(each) || FOR_USERS.has(each.name) || readers.some((known) => known.has(each.name))
          ? []
          : [`${join(door.folder, door.door)}: ${each.name}`],
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
      const readers = readersOf(door)
      return door.names.flatMap((each) => {
        const isNeeded = exported.some(({ name, named }) => name !== each.name && named.has(each.name))
        const isUsed = FOR_USERS.has(each.name) || readers.some((known) => known.has(each.name))
        return !isType(each) || isNeeded || isUsed ? [] : [`${join(door.folder, door.door)}: ${each.name}`]
      })
    })
    assert.deepEqual(unused, [])
  })
})
