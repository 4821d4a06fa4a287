import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import fc from 'fast-check'
import { judgeShell, shellRules } from './policy.fixture.ts'

/**
 * Decisions are only worth something if a real shell agrees. Here bash runs texts that were allowed; the only programs
 * it can find are `fine` and `evil`, which log their arguments.
 */

const FINE = [
  'fine ',
  'fine x ',
  'echo ',
  'echo x ',
  'cat a ',
  'fine $x ',
  'fine "$x" ',
  "fine 'evil' ",
  'fine "a; evil" ',
]
const ODD = [
  `evil ·$x ·"$x" ·\${x:-evil} ·$(evil) ·\`evil\` ·"$(evil)" ·'$(evil)' ·r{evil,} ·'a[$(evil)]' ·$'\\x65vil' ·e\\vil ·ev""il `,
  'x=evil ·x="$(fine)" ·PATH=. ·export ·set -- evil ·"$@" ·eval ·sh -c ·bash -c ·env ·timeout 5 ·nice ·xargs ·trap ·exec ·alias ',
  `[[ $x -eq 0 ]] ·(( x )) ·$((x)) ·\${a[x]} ·\${!x} ·a[x]=1 ·if ·then ·fi ·for x in evil; ·do ·done ·case a in a) ·;; ·esac ·f() ·f `,
  `> f ·>> f ·< a ·2>&1 ·> /dev/null ·<<E\n·\nE\n·<<'E'\n·<<< ·{ ·} ·( ·) ·! ·# ·~ ·* ·\\·"·'·printf -v x evil ·read x ·declare -i x= `,
].flatMap((line) => line.split('·'))
const JOINTS = ['', '', '', '; ', '&& ', '|| ', '| ', '\n']

const text = fc
  .array(
    fc.tuple(
      fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...FINE) }, { weight: 4, arbitrary: fc.constantFrom(...ODD) }),
      fc.constantFrom(...JOINTS),
    ),
    { minLength: 1, maxLength: 7 },
  )
  .map((pieces) => pieces.flat().join(''))

let root = ''
let runs = 0

before(() => {
  root = mkdtempSync(join(tmpdir(), 'policy-shell-'))
  mkdirSync(join(root, 'bin'))
  for (const program of ['fine', 'evil']) {
    writeFileSync(join(root, 'bin', program), `#!/bin/sh\necho ${program} >> "$LOG"\n`, { mode: 0o755 })
  }
})

after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))

/** Returns which programs ran, and which files exist afterwards. */
function run(command: string): { readonly ran: readonly string[]; readonly files: readonly string[] } {
  runs += 1
  const folder = join(root, `work-${runs}`)
  const log = join(root, `log-${runs}`)
  mkdirSync(folder)
  writeFileSync(join(folder, 'a'), 'x\n')
  spawnSync('bash', ['-c', command], {
    cwd: folder,
    env: { PATH: `${join(root, 'bin')}:/usr/bin:/bin`, HOME: folder, LOG: log },
    stdio: 'ignore',
    timeout: 60_000,
  })
  const ran = existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : []
  return { ran, files: readdirSync(folder) }
}

/** Returns the first texts with this decision; the seed is fixed, so that a slow machine runs the same ones. */
function allowed(isAllowed: (command: string) => boolean, count: number): string[] {
  const found = new Set<string>()
  for (let seed = 1; found.size < count && seed < 100; seed += 1) {
    for (const command of fc.sample(text, { seed, numRuns: 500 })) {
      if (found.size < count && isAllowed(command)) found.add(command)
    }
  }
  assert.equal(found.size, count, 'there are enough allowed texts to run')
  return [...found]
}

suite('in a real shell', () => {
  test('allowed commands run nothing else and write nothing', () => {
    const rules = shellRules({ allow: ['fine *', 'echo *', 'cat *'] })
    for (const command of allowed((each) => judgeShell(each, rules).policy === 'allow', 200)) {
      const { files, ran } = run(command)
      assert.deepEqual(
        [...new Set(ran)].filter((program) => program !== 'fine'),
        [],
        JSON.stringify(command),
      )
      assert.deepEqual(files, ['a'], JSON.stringify(command))
    }
  })

  test('allowed commands do not run what is denied', () => {
    const rules = shellRules({ deny: ['evil *'] })
    for (const command of allowed((each) => judgeShell(each, rules, { yolo: true }).policy === 'allow', 200)) {
      assert.ok(!run(command).ran.includes('evil'), JSON.stringify(command))
    }
  })
})
