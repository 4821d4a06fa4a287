import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { scriptedModel, startProvider } from '@inspan/testing'
import { generateText, jsonSchema, isStepCount, streamText } from 'ai'
import type { LanguageModel, ToolSet } from 'ai'

// What is tested here: a function that lets a model read files and answer.
async function askAboutFiles(model: LanguageModel, question: string, files: Map<string, string>): Promise<string> {
  const tools: ToolSet = {
    read_file: {
      description: 'Reads a file',
      inputSchema: jsonSchema<{ path: string }>({ type: 'object', properties: { path: { type: 'string' } } }),
      execute: async ({ path }: { path: string }) => files.get(path) ?? 'no such file',
    },
  }
  const { text } = await generateText({ model, prompt: question, tools, stopWhen: isStepCount(5) })
  return text
}

test('in process: the model reads a file, sees its content and answers', async () => {
  const model = scriptedModel([
    { reasoning: 'Look first.', toolCalls: [{ name: 'read_file', input: { path: 'a.txt' } }] },
    { text: 'It says hello.', usage: { inputTokens: 10, outputTokens: 4 } },
  ])

  const answer = await askAboutFiles(model, 'What is in a.txt?', new Map([['a.txt', 'hello']]))

  assert.equal(answer, 'It says hello.')
  assert.equal(model.turnsLeft, 0)
  assert.match(model.requestBodies[1] ?? '', /"value":"hello"/) // the second call carried the tool result
})

test('over HTTP: the real client retries a 429 and gives up on a broken stream', async () => {
  await using provider = await startProvider([
    { error: { status: 429, retryAfterMs: 10 } },
    { text: ['It says ', 'hello.'] },
    { text: ['It sa', 'ys'], cut: true },
  ])
  const anthropic = createAnthropic({ baseURL: `${provider.url}/v1`, apiKey: 'any' })

  assert.equal(await askAboutFiles(anthropic('claude-sonnet-4-5'), 'What is in a.txt?', new Map()), 'It says hello.')

  const broken = streamText({ model: anthropic('claude-sonnet-4-5'), prompt: 'Again', maxRetries: 0, onError() {} })
  await assert.rejects(async () => broken.text)

  assert.deepEqual(
    provider.requests.map((request) => request.outcome),
    ['answered', 'answered', 'cut'],
  )
  assert.deepEqual(provider.unexpected, []) // the client asked for nothing that it should not
})
