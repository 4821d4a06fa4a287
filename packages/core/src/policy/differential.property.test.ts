import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import type { PatternRule } from '@inspan/protocol'
import { policyFor, shellCall, shellRules } from './policy.fixture.ts'
import { optionText, PROGRAMS } from './option-texts.fixture.ts'
import { makePrograms, runTexts, staysInside, type Deeds } from './run-texts.fixture.ts'
import { randomFrom, shellText, type RandomBelow } from './shell-texts.fixture.ts'

/**
 * Judges made-up texts under three sets of rules, lets bash and dash run those that are allowed, and looks at what they
 * really did. `npm run test:soak` does it for a million texts.
 */
const TEXTS = Number(process.env['INSPAN_SHELL_TEXTS'] ?? 1_000)
const SEED = Number(process.env['INSPAN_SHELL_SEED'] ?? 1)
const SHELLS = ['/bin/bash', '/bin/dash'].filter((path) => existsSync(path))
const BATCH = 200

const ALLOW = [
  'fine, echo, printf, cat, ls, sort, uniq, wc, head, tail, grep, cut, tr, sed, awk, find, true, cd, date, basename',
  'xargs, jq, tar, shuf, iconv, nice, timeout, env, time',
]
  .flatMap((line) => line.split(', '))
  .map((program) => `${program} *`)
const SECRETS: readonly PatternRule[] = ['read_file', 'edit_file'].map((tool) => {
  return { tool, pattern: 'secret*', policy: 'deny' }
})

interface Mode {
  readonly name: string
  readonly make: (random: RandomBelow) => string
  readonly isAllowed: (text: string) => boolean
  readonly isWrong: (deeds: Deeds) => boolean
  /** A deny does not see what scripts do that were there before; an allow lets none of them run. */
  readonly content: string
}

const starred = policyFor(shellRules({ allow: ALLOW }))
const optioned = policyFor(shellRules({ allow: ['echo', ...PROGRAMS].map((program) => `${program} *`) }))
const denied = policyFor(shellRules({ deny: ['evil *'] }))
const secret = policyFor(shellRules({}, { patterns: SECRETS }))
const MODES: readonly Mode[] = [
  {
    name: 'under allows',
    make: shellText,
    isAllowed: (text) => starred.decide(shellCall(text), {}).policy === 'allow',
    isWrong: ({ ranEvil, wrote }) => ranEvil || wrote,
    content: 'evil\nx\n',
  },
  {
    name: 'past a denied program',
    make: shellText,
    isAllowed: (text) => denied.decide(shellCall(text), { yolo: true }).policy === 'allow',
    isWrong: ({ ranEvil }) => ranEvil,
    content: 'a\nx\n',
  },
  {
    name: 'past a denied file',
    make: shellText,
    isAllowed: (text) => secret.decide(shellCall(text), { yolo: true }).policy === 'allow',
    isWrong: ({ changedSecret, showedSecret }) => changedSecret || showedSecret,
    content: 'a\nx\n',
  },
  {
    name: 'with options',
    make: optionText,
    isAllowed: (text) => optioned.decide(shellCall(text), {}).policy === 'allow',
    isWrong: ({ ranEvil, wrote }) => ranEvil || wrote,
    content: 'evil\nx\n',
  },
]

let root = ''

before(() => {
  root = mkdtempSync(join(tmpdir(), 'policy-texts-'))
  chmodSync(root, 0o755)
  makePrograms(root)
})
after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))

/** Returns the texts that did what they must not do, or all of them if they did it only together. */
async function wrongOnes(mode: Mode, shell: string, texts: readonly string[]): Promise<string[]> {
  const deeds = await runTexts(root, shell, texts, mode.content)
  if (!mode.isWrong(deeds) && (deeds.isFinished || texts.length === 1)) return []
  const half = texts.length >> 1
  const found: string[] = []
  if (half > 0) {
    for (const part of [texts.slice(0, half), texts.slice(half)]) found.push(...(await wrongOnes(mode, shell, part)))
  }
  if (found.length > 0 || !mode.isWrong(deeds)) return found
  return texts.map((text) => `${shell} ${mode.name}: ${JSON.stringify(text)}`)
}

suite('what bash and dash do with allowed texts', () => {
  for (const shell of SHELLS) {
    test(`is noticed when ${shell} runs, writes or shows what it must not`, async () => {
      const deedsOf = (text: string): Promise<Deeds> => runTexts(root, shell, ['fine', text, 'echo a'], 'a\n')
      const harmless = { ranEvil: false, wrote: false, showedSecret: false, changedSecret: false, isFinished: true }
      assert.deepEqual(await deedsOf('echo \'it\' "is" $1'), harmless)
      assert.deepEqual(await deedsOf('(sleep 0.1; evil) &'), { ...harmless, ranEvil: true })
      assert.deepEqual(await deedsOf('echo a > f; exit 1'), { ...harmless, wrote: true })
      assert.deepEqual(await deedsOf('cat secret'), { ...harmless, showedSecret: true })
      assert.deepEqual(await deedsOf('echo a > secret; ('), harmless)
      assert.deepEqual(await deedsOf('echo a > secret'), { ...harmless, wrote: true, changedSecret: true })
    })
  }

  test(`is what was allowed: ${TEXTS} texts from seed ${SEED}`, async (context) => {
    const random = randomFrom(SEED)
    const waiting = MODES.map((): Set<string> => new Set())
    const seen = MODES.map((): Set<string> => new Set())
    const wrong: string[] = []
    let ran = 0
    const running = new Set<Promise<void>>()
    const flush = async (at: number): Promise<void> => {
      const [mode, texts] = [MODES[at], [...(waiting[at] ?? [])]]
      waiting[at]?.clear()
      if (mode === undefined || texts.length === 0) return
      ran += texts.length
      if (running.size >= 2) await Promise.race(running)
      const batch: Promise<void> = Promise.all(SHELLS.map((shell) => wrongOnes(mode, shell, texts)))
        .then((found) => {
          wrong.push(...found.flat())
        })
        .finally(() => running.delete(batch))
      running.add(batch)
    }
    for (let made = 0; made < TEXTS; made += 1) {
      const at = made % MODES.length
      const text = MODES[at]?.make(random) ?? ''
      if (!staysInside(text) || seen[at]?.has(text) === true || MODES[at]?.isAllowed(text) !== true) continue
      seen[at]?.add(text)
      waiting[at]?.add(text)
      if (waiting[at]?.size === BATCH) await flush(at)
      if (made % 20_000 < MODES.length) context.diagnostic(`${made} texts, ${ran} run, ${wrong.length} wrong`)
    }
    for (const at of MODES.keys()) await flush(at)
    await Promise.all(running)
    context.diagnostic(`${TEXTS} texts, ${ran} of them allowed and run in both shells`)
    assert.deepEqual(wrong, [])
    assert.ok(ran > TEXTS / 20, 'enough texts are allowed to tell something')
  })
})
