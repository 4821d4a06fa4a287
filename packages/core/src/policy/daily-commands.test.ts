import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { PatternRule, Policy } from '@inspan/protocol'
import { daily, dailyAsked, dailyScripts } from './corpus/daily.fixture.ts'
import { judgeShell, shellRules } from './policy.fixture.ts'

/** Rules of somebody who wants to be asked rarely, and keeps secrets. */
const ALLOWED = [
  'ls, cat, head, tail, wc, grep, rg, find, sed -n, sort, uniq, cut, tr, echo, printf, which, file, stat, du',
  'diff, jq, awk, xargs, test, [, date, basename, dirname, cd, git status, git log, git diff, git show',
  'git branch, git add, git commit, git stash, git fetch, git checkout, git rev-parse, git ls-files, git blame',
  'git grep, git remote, git tag, npm test, npm run, npm ls, npx tsc, npx eslint, npx prettier, npx vitest',
  'node --test, tsc, eslint, prettier, cargo build, cargo test, cargo check, cargo clippy, go build, go test',
  'go vet, pytest, python3 -m pytest, docker ps, docker logs, gh pr view, gh pr list, gh run list, mkdir, touch',
  'sleep, ps, tree, mypy, ruff',
]
  .flatMap((line) => line.split(', '))
  .map((words) => `${words} *`)
const EXACTLY = ['pwd', 'true', 'npm ci', 'make test', 'make build', 'env', 'node --version']

const SECRETS: readonly PatternRule[] = [
  { tool: 'read_file', pattern: '.env*', policy: 'deny' },
  { tool: 'edit_file', pattern: '.env*', policy: 'deny' },
  { tool: 'read_file', pattern: '~/.ssh/**', policy: 'deny' },
]
const RULES = shellRules(
  { allow: [...ALLOWED, ...EXACTLY], deny: ['rm -rf *', 'git push --force *', 'sudo *'] },
  { categories: { read: 'allow', edit: 'allow' }, patterns: SECRETS },
)

function others(commands: readonly string[], than: Policy): string[] {
  return commands.flatMap((command) => {
    const { policy, reason } = judgeShell(command, RULES)
    return policy === than ? [] : [`${command}: ${reason}`]
  })
}

suite('what is run all day', () => {
  test(`is not asked about: ${daily.length} commands`, () => assert.deepEqual(others(daily, 'allow'), []))

  test(`is asked about at most 3 times in 200: ${daily.length + dailyScripts.length} commands`, () => {
    const all = [...daily, ...dailyScripts]
    assert.ok(all.length >= 200 && new Set(all).size === all.length, String(all.length))
    const asked = others(all, 'allow')
    assert.ok(asked.length / all.length <= 3 / 200, asked.join('\n'))
  })

  test(`asks where a secret may come of it: ${dailyAsked.length} commands`, () =>
    assert.deepEqual(others(dailyAsked, 'ask'), []))
})
