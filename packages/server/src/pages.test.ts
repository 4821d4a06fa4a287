import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Agent, Harness, MemoryStore } from '@inspan/core'
import { scriptedModel } from '@inspan/testing'
import { serve, type InspanServer } from './serve.ts'

describe('a web page that is served along', () => {
  let folder = ''
  let server: InspanServer
  const harness = new Harness({
    id: 'pages',
    agent: new Agent({ id: 'me', model: scriptedModel([]) }),
    storage: new MemoryStore(),
    modes: [{ id: 'chat' }],
  })
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'inspan-pages-'))
    await mkdir(join(folder, 'web/assets'), { recursive: true })
    await writeFile(join(folder, 'web/index.html'), '<h1>Page</h1>')
    await writeFile(join(folder, 'web/assets/app-1.js'), 'void 0')
    await writeFile(join(folder, 'secret.html'), 'secret')
    await symlink(join(folder, 'secret.html'), join(folder, 'web/link.html'))
    server = await serve({ harness, pages: join(folder, 'web') })
  })
  after(async () => {
    await server.close()
    await harness.destroy()
    await rm(folder, { recursive: true })
  })

  it('needs no token, loads nothing from elsewhere and cannot be framed', async () => {
    const response = await fetch(`${server.url}/`)
    assert.equal(await response.text(), '<h1>Page</h1>')
    const policy = response.headers.get('content-security-policy') ?? ''
    assert.match(policy, /default-src 'self'/)
    assert.match(policy, /frame-ancestors 'none'/)
    const script = await fetch(`${server.url}/assets/app-1.js`)
    assert.match(script.headers.get('content-type') ?? '', /javascript/)
    assert.match(script.headers.get('cache-control') ?? '', /immutable/)
  })

  it('opens nothing else: no links, no paths out of the folder, no routes without a token', async () => {
    for (const path of [
      '/link.html',
      '/../secret.html',
      '/%2e%2e/secret.html',
      '/assets/../../secret.html',
      '/v1/threads',
    ]) {
      const response = await fetch(`${server.url}${path}`)
      assert.equal(response.status, 401, path)
      assert.doesNotMatch(await response.text(), /secret/)
    }
  })

  it('is served as a whole after it was built anew', async () => {
    const built = join(folder, 'built')
    const build = async (name: string, at: number): Promise<void> => {
      await mkdir(join(folder, name, 'assets'), { recursive: true })
      await writeFile(join(folder, name, 'index.html'), `<script src="/assets/${name}.js"></script>`)
      await utimes(join(folder, name, 'index.html'), at, at)
      await writeFile(join(folder, name, 'assets', `${name}.js`), name)
      await rename(join(folder, name), built)
    }
    await build('first', 1000)
    const other = await serve({ harness, pages: built })
    try {
      assert.match(await (await fetch(`${other.url}/`)).text(), /first\.js/)
      await rename(built, join(folder, 'gone'))
      assert.equal((await fetch(`${other.url}/assets/second.js`)).status, 401)
      await build('second', 2000)
      assert.equal(await (await fetch(`${other.url}/assets/second.js`)).text(), 'second')
      assert.match(await (await fetch(`${other.url}/`)).text(), /second\.js/)
      assert.equal((await fetch(`${other.url}/assets/first.js`)).status, 401)
    } finally {
      await other.close()
    }
  })

  it('a folder of pages must have an index', async () => {
    await assert.rejects(serve({ harness, pages: join(folder, 'web/assets') }), /no index\.html/)
    await assert.rejects(serve({ harness, pages: join(folder, 'nowhere') }), /cannot be read/)
  })
})
