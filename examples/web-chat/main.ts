/** Serves a chat page. The page is bundled at start; a project of its own would use its build tool for that. */
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, Harness } from '@inspan/core'
import { serve } from '@inspan/server'
import { scriptedModel } from '@inspan/testing'
import { build } from 'esbuild'

const pages = await mkdtemp(join(tmpdir(), 'web-chat-'))
await cp(join(import.meta.dirname, 'index.html'), join(pages, 'index.html'))
await build({
  entryPoints: [join(import.meta.dirname, 'page.tsx')],
  outfile: join(pages, 'page.js'),
  bundle: true,
  format: 'esm',
  jsx: 'automatic',
  target: 'es2024',
})

// MODEL=anthropic/claude-sonnet-4-5 uses a real model.
const model = process.env['MODEL'] ?? scriptedModel([{ text: ['Hello ', 'from ', 'the server.'] }])
const harness = new Harness({ id: 'web-chat', agent: new Agent({ id: 'assistant', model }), modes: [{ id: 'chat' }] })
const server = await serve({ harness, pages })
console.log(`Open ${server.url}/#${server.pair().code} (Ctrl-C ends it)`)

const end = async (): Promise<void> => {
  await server.close()
  await harness.destroy()
  await rm(pages, { recursive: true })
}
process.once('SIGINT', () => void end())
process.once('SIGTERM', () => void end())
