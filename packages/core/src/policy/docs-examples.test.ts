import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { PermissionRules, Policy } from '@inspan/protocol'
import { judgeShell, shellRules } from './policy.fixture.ts'

const docs = await readFile(new URL('../../../../docs/guide/permissions.md', import.meta.url), 'utf8')
/** The docs as they are read: unwrapped, and without table syntax. */
const shown = docs.replaceAll(/\s*\n\s*/g, ' ').replaceAll('\\|', '|')
const example = new URL('examples/rules.fixture.ts', import.meta.url)

/** Examples in the text, with the decision where commands are allowed and something else is denied. */
const DENIED_COMMANDS: readonly (readonly [command: string, verdict: Policy])[] = [
  ["echo 'rm x' | tool", 'ask'],
  ['curl -o s u; sh s', 'ask'],
  ['sort -o s x; sh s', 'ask'],
  ['cp /bin/rm x', 'ask'],
  ['xargs ssh host', 'ask'],
  ['xargs python3 -c', 'ask'],
  ['git config alias.p push', 'ask'],
  ['git p', 'ask'],
  ["CC='rm -f' make", 'ask'],
  ['bash "$x"', 'ask'],
  ['python3 /dev/stdin', 'ask'],
  ['bash deploy.sh', 'allow'],
  ['npm test', 'allow'],
  ["printf 'r%s' m | tool", 'allow'],
]

const DENIED_FILES: typeof DENIED_COMMANDS = [
  ['F=.env tool', 'ask'],
  ['echo .env | xargs tool', 'ask'],
  [`python3 -c "open('.env')"`, 'ask'],
  [`python3 -c "open('a.json')"`, 'allow'],
  ['cat "$x"', 'ask'],
  ['eval "$x"', 'ask'],
  ['tool "$x"', 'allow'],
  ['for f in .env; do tool $f; done', 'allow'],
  ['cat .e*', 'ask'],
  ['tool {a,.env}', 'ask'],
  ['cat *', 'allow'],
  ['cat src/*.ts', 'allow'],
  ['7z a x .', 'ask'],
  ['tar c .', 'ask'],
  ['rg x src/a.ts', 'allow'],
  ["git diff -- src/a.ts '*.ts'", 'allow'],
  ['git show HEAD:src/a.ts', 'allow'],
  ['git diff -- .env', 'ask'],
  ['git diff -- packages/*', 'ask'],
  ["git checkout -- '*env'", 'ask'],
  ["git diff -- '*.ts'", 'allow'],
  ["vim -c 'w .env'", 'ask'],
  ["sqlite3 x '.read .env'", 'ask'],
  ["sftp h <<< 'put .env'", 'ask'],
  ["tool 'cat .env'", 'ask'],
]

function others(examples: typeof DENIED_COMMANDS, rules: PermissionRules): string[] {
  return examples.flatMap(([command, verdict]) => {
    const { policy, reason } = judgeShell(command, rules)
    const isShown = shown.includes(`\`${command}\``)
    return policy === verdict && isShown ? [] : [`${command} (${isShown ? policy : 'not in the page'}): ${reason}`]
  })
}

suite('docs/guide/permissions.md', () => {
  test('shows rules, and what comes of them', async () => {
    const path = fileURLToPath(example)
    const program = await readFile(path, 'utf8')
    const { stdout } = await promisify(execFile)(process.execPath, [path], { timeout: 120_000 })
    assert.ok(docs.includes(`\`\`\`ts\n${program}\`\`\``), 'copy examples/rules.fixture.ts into the page')
    assert.ok(docs.includes(`\`\`\`text\n${stdout}\`\`\``), `the page does not show:\n${stdout}`)
    assert.equal(docs.split('```ts\n').length - 1, 1, 'no program that is not run')
  })

  const tools = { execute_command: 'allow' } as const

  test('lists what a deny of commands asks about, and what it does not see', () => {
    const rules = shellRules({ deny: ['rm *', 'git push *'] }, { tools })
    assert.deepEqual(others(DENIED_COMMANDS, rules), [])
  })

  test('lists what a deny of files asks about, and what it does not see', () => {
    const noEnv = ['read_file', 'edit_file'].map((tool) => ({ tool, pattern: '.env*', policy: 'deny' as const }))
    assert.deepEqual(others(DENIED_FILES, shellRules({}, { tools, patterns: noEnv })), [])
  })
})
