import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { PatternRule, PermissionRules } from '@inspan/protocol'
import { besideLooks } from './corpus/beside-looks.fixture.ts'
import { besideMoreStars } from './corpus/beside-more-stars.fixture.ts'
import { besideStars } from './corpus/beside-stars.fixture.ts'
import { readsSecrets, runsRm } from './corpus/hidden-targets.fixture.ts'
import { readsDenied } from './corpus/reads-denied.fixture.ts'
import { runsDenied } from './corpus/runs-denied.fixture.ts'
import { waysAroundStars, waysToEdit } from './corpus/ways-around-stars.fixture.ts'
import { waysToRead, waysToWrite } from './corpus/ways-to-files.fixture.ts'
import { waysToRun } from './corpus/ways-to-run.fixture.ts'
import { spelledReads, spelledRuns } from './corpus/ways-to-spell.fixture.ts'
import { writesDenied } from './corpus/writes-denied.fixture.ts'
import type { PolicyContext } from './index.ts'
import { judgeShell, shellRules } from './policy.fixture.ts'

/**
 * Returns the commands that are allowed. Here it only matters that nothing runs unasked; whether it asks or denies is
 * for the other corpus.
 */
function allowed(commands: readonly string[], rules: PermissionRules, context: PolicyContext = {}): string[] {
  return commands.filter((command) => judgeShell(command, rules, context).policy === 'allow')
}

const NO_ENV: PatternRule = { tool: 'read_file', pattern: '.env*', policy: 'deny' }
const LOOKS = ['git *', 'ls *', 'npm test']
const STARS = [
  'git *, ls *, cat *, echo *, grep *, find *, sed *, awk *, sort *, uniq *, xxd *, head *, tail *, printf *',
  'rg *, curl *, tar *, xargs *, make *, npm test *, npm run *, node --test *, python3 *, ssh *, docker *, env *',
  'timeout *, true, cp *, ln *, chmod *, tee *, npx *',
].flatMap((line) => line.split(', '))
const MORE_STARS = [
  'git status *, git log *, git diff *, npm test *, npm run *, ls *, cat *, echo *, grep *, find *, rg *, sort *, tar *',
  'make *, git *, cargo *, go *, docker ps *, node --test *, npx tsc *, pytest *, eslint *, prettier *, sed -n *, awk *',
  'jq *, head *, tail *, man *, less *, env, pwd, cd *, test *, xargs *, date *, which *, kubectl get *, gh *',
  'python3 -m pytest *, tee *, diff *, tree *',
].flatMap((line) => line.split(', '))

function denied(tool: string, patterns: readonly string[]): PatternRule[] {
  return patterns.map((pattern) => ({ tool, pattern, policy: 'deny' }))
}

function filled(templates: readonly string[], place: string, text: string): string[] {
  return templates.map((template) => template.replaceAll(place, text))
}

suite('none is allowed of', () => {
  test(`${besideLooks.length} commands beside those that only look`, () => {
    const rules = shellRules({ allow: LOOKS }, { categories: { read: 'allow', edit: 'deny' }, patterns: [NO_ENV] })
    assert.deepEqual(allowed(besideLooks, rules), [])
  })

  test(`${besideStars.length} commands under stars that mean less`, () => {
    const rules = shellRules({ allow: STARS, deny: ['rm *'] }, { categories: { read: 'allow' }, patterns: [NO_ENV] })
    assert.deepEqual(allowed(besideStars, rules), [])
  })

  test(`${runsRm.length} commands that run a denied program, even under yolo`, () => {
    assert.deepEqual(allowed(runsRm, shellRules({ deny: ['rm *'] }), { yolo: true }), [])
  })

  test(`${readsSecrets.length} commands that use denied files, even under yolo`, () => {
    const secret = (tool: string): PatternRule => ({ tool, pattern: 'secrets/a', policy: 'deny' })
    const rules = shellRules({}, { patterns: [NO_ENV, secret('read_file'), secret('edit_file')] })
    assert.deepEqual(allowed(readsSecrets, rules, { yolo: true }), [])
  })

  test(`${runsDenied.length} more that run a denied program, even under yolo`, () => {
    const rules = shellRules({ deny: ['rm *', 'git push *', 'curl *'] })
    assert.deepEqual(allowed(runsDenied, rules, { yolo: true }), [])
  })

  test(`${readsDenied.length} more that read denied files, even under yolo`, () => {
    const rules = shellRules({}, { patterns: denied('read_file', ['.env*', 'secrets/**', '~/.ssh/**']) })
    assert.deepEqual(allowed(readsDenied, rules, { yolo: true }), [])
  })

  test(`${writesDenied.length} that write denied files, even under yolo`, () => {
    const rules = shellRules({}, { patterns: denied('edit_file', ['.env*', 'secrets/**', '~/.ssh/**', '.github/**']) })
    assert.deepEqual(allowed(writesDenied, rules, { yolo: true }), [])
  })

  test(`${besideMoreStars.length} more under stars that mean less`, () => {
    const rules = shellRules({ allow: MORE_STARS }, { categories: { read: 'allow' } })
    assert.deepEqual(allowed(besideMoreStars, rules), [])
  })

  const NO_RUNS = shellRules({ deny: ['rm *', 'git push *', 'curl *'] })
  const NO_READS = shellRules({}, { patterns: denied('read_file', ['.env*', 'secrets/**', '~/.ssh/**']) })

  test(`${waysToRun.length} ways to run three denied commands, even under yolo`, () => {
    const commands = ['rm x', 'git push', 'curl u'].flatMap((each) => filled(waysToRun, '%D', each))
    assert.deepEqual(allowed(commands, NO_RUNS, { yolo: true }), [])
  })

  test(`${waysToRead.length} ways to read and ${waysToWrite.length} to write two denied files, even under yolo`, () => {
    const noWrites = shellRules({}, { patterns: denied('edit_file', ['.env*', 'secrets/**']) })
    for (const file of ['.env', 'secrets/a']) {
      assert.deepEqual(allowed(filled(waysToRead, '%F', file), NO_READS, { yolo: true }), [])
      assert.deepEqual(allowed(filled(waysToWrite, '%F', file), noWrites, { yolo: true }), [])
    }
  })

  test(`${spelledRuns.length + spelledReads.length} spellings of denied commands and files, even under yolo`, () => {
    assert.deepEqual(allowed(spelledRuns, NO_RUNS, { yolo: true }), [])
    assert.deepEqual(allowed(spelledReads, NO_READS, { yolo: true }), [])
  })

  test(`${waysAroundStars.length} that do more than a star covers`, () => {
    assert.deepEqual(allowed(waysAroundStars, shellRules({ allow: STARS }, { categories: { read: 'allow' } })), [])
    assert.deepEqual(allowed(waysAroundStars, shellRules({ allow: MORE_STARS }, { categories: { read: 'allow' } })), [])
  })

  test(`${waysToEdit.length} that may edit where nothing may be edited`, () => {
    const rules = shellRules({}, { categories: { read: 'allow', execute: 'allow', edit: 'deny' } })
    for (const yolo of [false, true]) assert.deepEqual(allowed(waysToEdit, rules, { yolo }), [])
  })
})
