import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import jsQR from 'jsqr'

const bin = fileURLToPath(new URL('../../bin/inspan.js', import.meta.url))
/** What each character of the picture shows: the upper and the lower half of its cell. */
const HALVES: Readonly<Record<string, readonly [upper: boolean, lower: boolean]>> = {
  ' ': [false, false],
  '▀': [true, false],
  '▄': [false, true],
  '█': [true, true],
}

/** Reads a QR code from text as a camera sees it in a terminal with light characters on a dark ground. */
function scanned(lines: readonly string[]): string | undefined {
  const scale = 4
  const rows = lines.flatMap((line) =>
    [0, 1].map((half) => line.split('').map((char) => HALVES[char]?.[half] ?? false)),
  )
  const width = (rows[0]?.length ?? 0) * scale
  const height = rows.length * scale
  const pixels = new Uint8ClampedArray(width * height * 4)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const isLight = rows[Math.floor(y / scale)]?.[Math.floor(x / scale)] === true
      pixels.set(isLight ? [255, 255, 255, 255] : [0, 0, 0, 255], (y * width + x) * 4)
    }
  }
  return jsQR.default(pixels, width, height)?.data
}

it('inspan serve shows a QR code that pairs a phone, once', { timeout: 120_000 }, async () => {
  const home = await mkdtemp(join(tmpdir(), 'inspan-qr-'))
  const args = [bin, 'serve', '--port', '0', '--code', '--model', 'openai/none', '--allowed-host', 'desk.example:8443']
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, INSPAN_HOME: home }
  const child = spawn(process.execPath, args, { cwd: home, env, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`It ended with ${code}: ${output}`)))
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      if (/pair a phone[^]*\n[^\n]+\n$/.test(output)) resolve()
    })
  })
  child.removeAllListeners('exit')
  const [, url = ''] = /Listening on (\S+)/.exec(output) ?? []
  const picture = output.slice(output.indexOf('pair a phone')).split('\n').slice(1).filter(Boolean)
  const link = scanned(picture) ?? ''
  assert.match(link, /^http:\/\/desk\.example:8443\/#code=[\w-]+$/)
  const code = link.split('=')[1]
  const swap = (): Promise<Response> =>
    fetch(`${url}/v1/pair`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code, name: 'phone' }),
    })
  const paired = await swap()
  assert.equal(paired.status, 200)
  assert.match(paired.headers.get('set-cookie') ?? '', /HttpOnly; SameSite=Strict/)
  assert.equal((await swap()).status, 401)
  child.kill('SIGTERM')
  await once(child, 'exit')
  await rm(home, { recursive: true })
})
