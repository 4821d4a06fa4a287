/** The two commands on a fresh clone: the machine's Node installs what is missing, the project's own takes over. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, copyFile, mkdir, mkdtemp, readFile, realpath, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))

interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

/** A clone in which `npm` only notes that it was called, and leaves what an install leaves. */
class Clone implements AsyncDisposable {
  readonly root: string
  readonly elsewhere: string

  private constructor(root: string) {
    this.root = join(root, 'clone')
    this.elsewhere = join(root, 'elsewhere')
  }

  static async make(): Promise<Clone> {
    const clone = new Clone(await realpath(await mkdtemp(join(tmpdir(), 'inspan-launch-'))))
    for (const folder of ['scripts', 'packages/inspan/bin', 'tools', '../elsewhere']) {
      await mkdir(join(clone.root, folder), { recursive: true })
    }
    await copyFile(join(here, 'launch.mjs'), join(clone.root, 'scripts/launch.mjs'))
    await clone.lock('1.0.0')
    await clone.program(`console.log(JSON.stringify({ args: process.argv.slice(2), cwd: process.cwd(),
      isOurs: process.env.OUR_NODE === 'yes', path: process.env.PATH.split(${JSON.stringify(delimiter)})[0] }))`)
    await clone.npm(`echo "npm's own words"
mkdir -p node_modules/node/bin
printf '#!/bin/sh\\nOUR_NODE=yes exec "%s" "$@"\\n' '${process.execPath}' > node_modules/node/bin/node
chmod +x node_modules/node/bin/node
cp package-lock.json node_modules/.package-lock.json`)
    return clone
  }

  /** Sets the program that `npm start` runs in the end. */
  async program(code: string): Promise<void> {
    await writeFile(join(this.root, 'packages/inspan/bin/inspan.js'), code)
  }

  async npm(script: string): Promise<void> {
    const path = join(this.root, 'tools/npm')
    await writeFile(path, `#!/bin/sh\necho "$@" >> '${join(this.root, 'npm-calls')}'\n${script}\n`)
    await chmod(path, 0o755)
  }

  /** Writes a lock file that is newer than any install before it. */
  async lock(version: string): Promise<void> {
    const path = join(this.root, 'package-lock.json')
    await writeFile(path, JSON.stringify({ packages: { 'node_modules/a': { version } } }))
    const later = new Date(Date.now() + 60_000)
    await utimes(path, later, later)
  }

  async installs(): Promise<number> {
    const calls = await readFile(join(this.root, 'npm-calls'), 'utf8').catch(() => '')
    const lines = calls.split('\n').filter((line) => line !== '')
    for (const line of lines) assert.match(line, /^ci( |$)/)
    return lines.length
  }

  async launch(...args: string[]): Promise<Ended> {
    const child = spawn(process.execPath, [join(this.root, 'scripts/launch.mjs'), ...args], {
      cwd: this.elsewhere,
      env: { ...process.env, PATH: `${join(this.root, 'tools')}${delimiter}${process.env['PATH'] ?? ''}` },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let out = ''
    let err = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk))
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (err += chunk))
    return new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal, out, err })))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(dirname(this.root), { recursive: true, force: true })
  }
}

describe('npm start', () => {
  it('installs what is missing, once, and continues with the Node of the project', async () => {
    await using clone = await Clone.make()
    for (const time of [1, 2]) {
      const ended = await clone.launch('start', 'Hello', '--json')
      assert.equal(ended.code, 0, ended.err)
      assert.deepEqual(JSON.parse(ended.out), {
        args: ['serve', '--code', 'Hello', '--json'],
        cwd: clone.elsewhere,
        isOurs: true,
        path: join(clone.root, 'node_modules/.bin'),
      })
      assert.equal(/npm's own words/.test(ended.err), time === 1, 'an install speaks on standard error, and only then')
      assert.equal(await clone.installs(), 1)
    }
  })

  it('installs again when the lock file has other versions, and not when it was only touched', async () => {
    await using clone = await Clone.make()
    await clone.launch('start')
    await clone.lock('1.0.0')
    await clone.launch('start')
    assert.equal(await clone.installs(), 1)
    await clone.lock('1.0.1')
    await clone.launch('start')
    assert.equal(await clone.installs(), 2)
  })

  it('installs again after an install that was interrupted', async () => {
    await using clone = await Clone.make()
    await clone.launch('start')
    await rm(join(clone.root, 'node_modules/.package-lock.json'))
    await clone.launch('start')
    assert.equal(await clone.installs(), 2)
  })

  it('reports what to do when the install fails, and runs nothing', async () => {
    await using clone = await Clone.make()
    await clone.npm('echo broken; exit 7')
    const ended = await clone.launch('start')
    assert.deepEqual([ended.code, ended.out], [7, ''])
    assert.match(ended.err, /broken/)
    assert.match(ended.err, /npm ci failed.*run the command again/)
  })

  it('ends as the program ends', async () => {
    await using clone = await Clone.make()
    await clone.program('process.exit(3)')
    assert.equal((await clone.launch('start')).code, 3)
    await clone.program(`process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000)`)
    assert.equal((await clone.launch('start')).signal, 'SIGTERM')
    await clone.program(`process.kill(process.pid, 'SIGINT'); setInterval(() => {}, 1000)`)
    assert.equal((await clone.launch('start')).signal, 'SIGINT')
  })

  it('lets the program finish its work after Ctrl-C', async () => {
    await using clone = await Clone.make()
    await clone.launch('start')
    // A terminal sends the signal to every process in it.
    await clone.program(`
      setInterval(() => {}, 1000)
      process.on('SIGINT', () => setTimeout(() => { console.log('kept'); process.exit(130) }, 300))
      console.log('begun')`)
    const child = spawn(process.execPath, [join(clone.root, 'scripts/launch.mjs'), 'start'], {
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    })
    let out = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      if (out === '') process.kill(-(child.pid ?? 0), 'SIGINT')
      out += chunk
    })
    let isOver = false
    child.stdout.once('end', () => (isOver = true))
    const [code] = (await once(child, 'exit')) as [number | null]
    assert.equal(code, 130)
    if (!isOver) await once(child.stdout, 'end')
    assert.equal(out, 'begun\nkept\n')
  })

  it('names the tasks there are when another one is asked for', async () => {
    await using clone = await Clone.make()
    const ended = await clone.launch('toString')
    assert.equal(ended.code, 2)
    assert.match(ended.err, /Unknown task "toString"\. Known: start, demo, test,/)
    assert.equal(await clone.installs(), 0)
  })
})

describe('npm test', () => {
  it('leaves the summary of the tests on the screen, so that they can be counted', async () => {
    const child = spawn(process.execPath, [join(here, 'test.ts'), join(here, 'hygiene/traces.test.ts')], {
      // A test runner inside a test runner would report to it instead of printing.
      env: { ...process.env, NODE_TEST_CONTEXT: undefined },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let out = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk))
    const code = await new Promise((resolve) => child.once('close', resolve))
    assert.equal(code, 0)
    const count = (name: string): number => Number(new RegExp(`^(?:ℹ|#) ${name} (\\d+)$`, 'm').exec(out)?.[1])
    assert.ok(count('tests') > 5, out)
    assert.deepEqual([count('pass'), count('fail'), count('skipped'), count('todo')], [count('tests'), 0, 0, 0])
  })

  it('is what CI runs, with every other suite there is but the soak, which takes hours', async () => {
    const root = dirname(here)
    const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
      scripts: Readonly<Record<string, string>>
    }
    const ci = await readFile(join(root, '.ci/run'), 'utf8')
    const called = [...ci.matchAll(/^npm (?:run )?(test\S*)$/gm)].map(([, name]) => name)
    assert.deepEqual(
      new Set(called),
      new Set(
        Object.keys(scripts).filter((name) => name === 'test' || (name.startsWith('test:') && name !== 'test:soak')),
      ),
    )
  })
})
