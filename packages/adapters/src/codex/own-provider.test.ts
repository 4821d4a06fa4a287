import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { aRequest, optionsOf } from '../../test/launch/request.ts'
import { scratch } from '../../test/launch/stand-in.ts'
import { launchCodex } from './launch.ts'
import { ownProvider, providerSettings } from './own-provider.ts'

const CONFIG = `
# Which model, and where
model = "gpt-5.5" # the usual one
model_provider = 'proxy'
model_reasoning_effort = "high"
sandbox_mode = "danger-full-access"
notify = ["program", "argument"]
developer_instructions = """
model_provider = "not this"
[model_providers.nor]
base_url = "this"
"""

[model_providers.proxy]
name = "The proxy"
base_url = "https://proxy.example/v1#a"
env_key = "PROXY_KEY"
wire_api = "responses"
query_params = { api-version = "2026-01-01" }
experimental_bearer_token = "secret"
http_headers = { Authorization = "secret" }

[model_providers.proxy.auth]
command = "run-me"

[model_providers."odd name"]
base_url = "https://odd.example"

[mcp_servers.mine]
command = "server"
`

describe('Codex: the provider of the user’s configuration', () => {
  it('is kept: which model is asked, and where', () => {
    assert.deepEqual(providerSettings(CONFIG), [
      'model="gpt-5.5"',
      "model_provider='proxy'",
      'model_reasoning_effort="high"',
      'model_providers.proxy.name="The proxy"',
      'model_providers.proxy.base_url="https://proxy.example/v1#a"',
      'model_providers.proxy.env_key="PROXY_KEY"',
      'model_providers.proxy.wire_api="responses"',
      'model_providers.proxy.query_params={ api-version = "2026-01-01" }',
    ])
  })

  it('is that of the profile in use', () => {
    const config = `model = "a"\nprofile = "fast"\n[profiles.fast]\nmodel = "b"\nmodel_provider = "p"\n[profiles.slow]\nmodel = "c"`
    assert.deepEqual(providerSettings(config), ['model="b"', 'model_provider="p"'])
  })

  it('is unknown if the configuration names none or cannot be read', () => {
    for (const text of ['', '\0', '[model_providers', 'model = [\n"a"\n]', 'model_provider = """\nx\n"""'])
      assert.deepEqual(providerSettings(text), [])
  })

  it('is looked for in its own folder', async (t) => {
    const home = await scratch(t)
    assert.deepEqual(ownProvider({ HOME: home }), [])
    await mkdir(join(home, '.codex'))
    await writeFile(join(home, '.codex', 'config.toml'), 'model_provider = "a"')
    assert.deepEqual(ownProvider({ HOME: home }), ['model_provider="a"'])
    assert.deepEqual(ownProvider({ HOME: home, CODEX_HOME: join(home, 'none') }), [])
    assert.deepEqual(ownProvider({ CODEX_HOME: join(home, '.codex') }), ['model_provider="a"'])
  })

  it('comes before our own settings, which win', () => {
    const provider = ['model_provider="a"', 'model_providers.a.base_url="b"']
    const plan = launchCodex(aRequest({}), { config: { model_provider: 'ours' } }, provider)
    const settings = optionsOf(plan, '-c')
    assert.deepEqual(settings.slice(0, 2), provider)
    assert.equal(settings.at(-1), 'model_provider="ours"')
    assert.deepEqual(
      optionsOf(launchCodex(aRequest({}), { userConfig: true }, provider), '-c').includes('model_provider="a"'),
      false,
    )
  })
})
