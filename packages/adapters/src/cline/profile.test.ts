import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { scratch } from '../../test/launch/stand-in.ts'
import { hasKey } from '../launch/find-cli.ts'
import { clineProfile } from './profile.ts'

describe('Cline has a key', () => {
  const isKnown = async (t: TestContext, id: string, settings: object): Promise<boolean> => {
    const home = await scratch(t)
    const folder = join(home, '.cline', 'data', 'settings')
    await mkdir(folder, { recursive: true })
    const entry = { settings: { provider: id, model: 'm', ...settings }, tokenSource: 'manual' }
    await writeFile(join(folder, 'providers.json'), JSON.stringify({ version: 1, providers: { [id]: entry } }, null, 2))
    return hasKey(clineProfile, { HOME: home })
  }

  it('where somebody has logged in, or uses a provider that may need none', async (t) => {
    assert.equal(await isKnown(t, 'cline', { auth: { accessToken: 'x' } }), true)
    assert.equal(await isKnown(t, 'anthropic', { apiKey: 'x' }), true)
    assert.equal(await isKnown(t, 'ollama', {}), true)
  })

  it('a program that has only been run has no key', async (t) => {
    assert.equal(await isKnown(t, 'cline', {}), false)
  })
})
