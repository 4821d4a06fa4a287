import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { Agent, Harness } from '@inspan/core'
import { serve } from '@inspan/server'
import { scriptedModel } from '@inspan/testing'
import { connect } from './index.ts'
import { useHarness } from './react.ts'

describe('useHarness', () => {
  it('gives a component the state and a way to send', async () => {
    const agent = new Agent({ id: 'agent', model: scriptedModel([{ text: 'Hello' }]) })
    const harness = new Harness({ id: 'react', agent, modes: [{ id: 'build' }] })
    const server = await serve({ harness })
    const client = await connect({ url: server.url, token: server.token })
    const { receipt } = client.send({ type: 'submit', prompt: 'Hi' })
    await receipt
    await new Promise<void>((resolve) => {
      const stop = client.subscribe(({ messages, status }) => {
        if (status !== 'idle' || messages.length < 2) return
        stop()
        resolve()
      })
    })
    const Texts = (): ReturnType<typeof createElement> => {
      const { send, state } = useHarness(client, ({ messages }) => messages.map(({ content }) => content))
      assert.equal(typeof send, 'function')
      return createElement('p', null, state.join(' / '))
    }
    assert.equal(renderToStaticMarkup(createElement(Texts)), '<p>Hi / Hello</p>')
    await client.close()
    await server.close()
    await harness.destroy()
  })
})
