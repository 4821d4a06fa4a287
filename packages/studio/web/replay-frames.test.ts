import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { WireMessage } from '@inspan/protocol/wire'
import { replayOf } from './replay-frames.ts'

const prompt: WireMessage = { id: 'u', role: 'user', content: 'Do it', status: 'complete', createdAt: 1 }
const answer: WireMessage = {
  id: 'a',
  role: 'assistant',
  content: 'I will do it, and I will say at length how I do it, so that it takes a while.',
  reasoning: 'Think.',
  status: 'complete',
  createdAt: 2,
  toolCalls: [
    { id: 'c', name: 'run', status: 'complete', input: { command: 'ls' }, output: 'a.txt' },
    { id: 'd', name: 'run', status: 'denied', input: { command: 'rm a.txt' } },
  ],
}

suite('the replay of a conversation', () => {
  test('begins with nothing and ends with all of it', () => {
    const replay = replayOf([prompt, answer])
    assert.deepEqual(replay.at(0), [])
    assert.deepEqual(replay.at(replay.last), [prompt, answer])
    assert.deepEqual(replay.at(1), [prompt])
  })

  test('the replay of a conversation only ever adds: text grows, and a call is there before its result', () => {
    const replay = replayOf([prompt, answer])
    let [length, calls] = [0, 0]
    const seen: string[] = []
    for (let frame = 1; frame <= replay.last; frame++) {
      const [, shown] = replay.at(frame)
      if (shown === undefined) continue
      assert.ok(answer.content.startsWith(shown.content))
      assert.ok(shown.content.length >= length && (shown.toolCalls?.length ?? 0) >= calls)
      ;[length, calls] = [shown.content.length, shown.toolCalls?.length ?? 0]
      seen.push((shown.toolCalls ?? []).map(({ output, status }) => `${status}:${output ?? ''}`).join(' '))
    }
    assert.deepEqual(
      seen.filter((each, index) => each !== '' && each !== seen[index - 1]),
      ['running:', 'complete:a.txt', 'complete:a.txt running:', 'complete:a.txt denied:'],
    )
  })

  test('an empty conversation has nothing to play', () => {
    assert.equal(replayOf([]).last, 0)
    assert.deepEqual(replayOf([]).at(0), [])
  })
})
