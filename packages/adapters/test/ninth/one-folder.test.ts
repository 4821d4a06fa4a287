import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { clis } from '../../src/clis.ts'
import { scratch } from '../launch/stand-in.ts'
import { fixtureNames } from '../support.ts'

const run = promisify(execFile)
const pkg = fileURLToPath(new URL('../../', import.meta.url))
const SHARED: ReadonlySet<string> = new Set(['acp', 'kit', 'launch', 'live'])
const PARTS = ['cli.ts', 'profile.ts', 'driver.ts', 'mapper.ts', 'fixtures']
/** Launched as the program it is built on. */
const BUILT_ON: Readonly<Record<string, string>> = { 'kilo-code': 'opencode' }
/** No tool of theirs can be told from plain text. */
const PRINTS_TEXT: ReadonlySet<string> = new Set(['antigravity'])

const folders = (await readdir(join(pkg, 'src'), { withFileTypes: true }))
  .filter((entry) => entry.isDirectory() && !SHARED.has(entry.name))
  .map(({ name }) => name)

describe('a CLI is one folder', () => {
  it('every folder that is not shared belongs to a CLI', () => {
    assert.deepEqual(folders.sort(), clis.map(({ profile }) => profile.id).sort())
  })

  for (const { profile, dialect, live, liveDialect } of clis) {
    it(`${profile.title}: how it is launched, how its lines are read, its tools, its fixtures`, () => {
      const { id } = profile
      const has = (part: string, folder = id): boolean => existsSync(join(pkg, 'src', folder, part))
      for (const part of PARTS) assert.ok(has(part), part)
      assert.ok(has('launch.ts', BUILT_ON[id] ?? id))
      assert.equal(has('tools.ts'), !PRINTS_TEXT.has(id))
      assert.equal(dialect.id, id)
      assert.ok(fixtureNames(id).length > 0)
      const isRun = (suite: string): boolean => existsSync(join(pkg, 'test/real', id, `${suite}.real.ts`))
      assert.equal(profile.npm === undefined, !isRun(id))
      assert.equal(live === undefined, !isRun(`${id}-live`))
      if (liveDialect !== undefined) assert.ok(fixtureNames(liveDialect.id).length > 0, liveDialect.id)
    })
  }

  it('no module outside the folders names one, except the list and the door', async () => {
    const names = folders.map((folder) => `'${folder}'|/${folder}/`).join('|')
    const naming: string[] = []
    for (const file of await readdir(join(pkg, 'src'), { recursive: true })) {
      if (!file.endsWith('.ts') || /\.(test|bench)\.ts$/.test(file) || folders.includes(file.split('/')[0] ?? ''))
        continue
      if (new RegExp(names).test(await readFile(join(pkg, 'src', file), 'utf8'))) naming.push(file)
    }
    assert.deepEqual(naming.sort(), ['clis.ts', 'index.ts'])
  })
})

/** A copy of the sources with the folder of the documentation in it, and its line in the list. */
async function withNinth(t: TestContext): Promise<string> {
  const root = await scratch(t)
  const src = join(root, 'src')
  await cp(join(pkg, 'src'), src, { recursive: true })
  await cp(join(pkg, 'package.json'), join(root, 'package.json'))
  await symlink(join(pkg, '../../node_modules'), join(root, 'node_modules'))
  const folder = join(src, 'ninth')
  await cp(join(pkg, 'test/ninth'), folder, { recursive: true, filter: (path) => !path.endsWith('.test.ts') })
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.ts')) continue
    const text = await readFile(join(folder, name), 'utf8')
    await writeFile(join(folder, name), text.replaceAll(`'../../src/`, `'../`))
  }
  const list = join(src, 'clis.ts')
  const text = await readFile(list, 'utf8')
  await writeFile(list, `import { ninthCli } from './ninth/cli.ts'\n${text.replace(/^\]$/m, '  ninthCli,\n]')}`)
  return root
}

const PROGRAM = `
import { readFileSync } from 'node:fs'
import { doctor, clis, dialects, normalize } from './src/index.ts'
const lines = readFileSync('src/ninth/fixtures/read.jsonl', 'utf8').trim().split('\\n')
const activity = await Array.fromAsync(normalize(lines, { dialects, harness: 'ninth', cwd: '/workspace' }))
const [row] = await doctor(clis.filter(({ profile }) => profile.id === 'ninth').map(({ profile }) => profile), { PATH: '' })
console.log(JSON.stringify({ activity: activity.map(({ type }) => type), install: row.install }))
`

describe('a ninth CLI', () => {
  it('is added by its folder and one line', async (t) => {
    const root = await withNinth(t)
    await writeFile(join(root, 'try.ts'), PROGRAM)
    const { stdout } = await run(process.execPath, ['try.ts'], { cwd: root })
    assert.deepEqual(JSON.parse(stdout), { activity: ['read', 'agent'], install: 'npm install -g ninth-cli@1.0.0' })
  })
})
