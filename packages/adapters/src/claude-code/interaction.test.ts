import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonValue } from '@inspan/protocol'
import { answeredInput, interactionOf, verdictOnPlan } from './interaction.ts'

const color = { question: 'Which color?', header: 'Color', options: [{ label: 'Red' }], multiSelect: true }
const size = { question: 'Which size?', header: 'Size', options: [] }

function answers(questions: readonly (typeof color | typeof size)[], value: JsonValue): JsonValue | undefined {
  return answeredInput('AskUserQuestion', { questions: [...questions] }, value)['answers']
}

describe('answers to questions', () => {
  it('are matched by the question or its short name', () => {
    assert.deepEqual(answers([color, size], { 'Which color?': 'Red', Size: 'L' }), {
      'Which color?': 'Red',
      'Which size?': 'L',
    })
  })

  it('may be one text for one question, or several choices', () => {
    assert.deepEqual(answers([color], 'Red'), { 'Which color?': 'Red' })
    assert.deepEqual(answers([color], ['Red', 'Blue']), { 'Which color?': 'Red, Blue' })
  })

  it('may be a list with one answer per question', () => {
    assert.deepEqual(answers([color, size], ['Red', 'L']), { 'Which color?': 'Red', 'Which size?': 'L' })
  })

  it('are empty if missing, and converted to text if they are something else', () => {
    assert.deepEqual(answers([color, size], { Color: 7 }), { 'Which color?': '7', 'Which size?': '' })
  })
})

describe('what a person is shown', () => {
  it('is the one question with its options, or all of them', () => {
    assert.deepEqual(
      interactionOf('AskUserQuestion', { questions: [color] })?.payload?.['selectionMode'],
      'multi_select',
    )
    assert.equal(interactionOf('AskUserQuestion', { questions: [color, size] })?.payload?.['question'], undefined)
  })

  it('is nothing for other tools', () => {
    assert.equal(interactionOf('Bash', { command: 'ls' }), undefined)
  })
})

describe('a plan', () => {
  it('is accepted unless it was rejected', () => {
    assert.equal(verdictOnPlan({ isAllowed: true }).isAllowed, true)
    assert.equal(verdictOnPlan({ isAllowed: true, value: { action: 'approved' } }).isAllowed, true)
    assert.deepEqual(verdictOnPlan({ isAllowed: true, value: { action: 'rejected', feedback: 'Shorter.' } }), {
      isAllowed: false,
      reason: 'Shorter.',
    })
  })
})
