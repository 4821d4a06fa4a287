import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentEventsOf, type LogRecord, type RecordBody, type RecordType } from '@inspan/protocol/log'
import { checkSurvived, killEverywhere, said, timesRun, type Survived } from './crash-kills.fixture.ts'

function bodiesOf<T extends RecordType>(records: readonly LogRecord[], type: T): Extract<RecordBody, { type: T }>[] {
  const isWanted = (body: RecordBody): body is Extract<RecordBody, { type: T }> => body.type === type
  return records.map(({ body }) => body).filter(isWanted)
}

/** Checks that every turn has one finish and every call one result. */
function checkEnds(records: readonly LogRecord[], turns: number): void {
  const events = records.flatMap(agentEventsOf)
  const count = (type: string): number => events.filter((event) => event.type === type).length
  assert.equal(bodiesOf(records, 'turn.started').length, turns, 'turns')
  assert.equal(count('finish'), turns, 'finishes')
  // A call whose input was cut off does not count and has no result.
  const cut = events.filter((event) => event.type === 'tool-call' && event.meta?.interrupted === true)
  assert.equal(count('tool-call') - cut.length, count('tool-result'), 'calls and results')
}

function checkTurn(survived: Survived): void {
  const { before, journal, records } = survived
  const inDoubt = checkSurvived(survived)
  assert.equal(bodiesOf(records, 'wait.answered').length, 1, 'answers')
  const runs = bodiesOf(records, 'run.started').map(({ runId }) => runId)
  // A model whose answer was cut off is asked again and gives its calls new ids.
  for (const toolName of ['write', 'guarded']) {
    const times = timesRun(journal, toolName)
    assert.ok(times === 1 || (times === 0 && inDoubt.has(toolName)), `${toolName} ran ${times} times`)
  }
  for (const line of journal) assert.ok(line.includes(` ${runs[0]}:`), 'a tool ran in another run')
  // A steered message that was not heard starts its own run; both runs have one turn with one finish.
  const isOwnRun = runs.length === 2 && said(before, 'accepted').includes('Hurry.')
  assert.ok(runs.length === 1 || isOwnRun, `${runs.length} runs`)
  checkEnds(records, runs.length)
}

test(
  'crash matrix: killed at every point, a run loses nothing, repeats nothing and ends once',
  { timeout: 580_000 },
  (t) => killEverywhere(t, 'turn', checkTurn),
)

function checkFloor(survived: Survived): void {
  const { journal, left, records } = survived
  const inDoubt = checkSurvived(survived)
  const runs = bodiesOf(records, 'run.started')
  assert.equal(runs.length, 1, 'runs')
  assert.equal(bodiesOf(records, 'run.ended')[0]?.outcome, 'complete')
  for (const toolName of ['choose', 'give', 'gather']) {
    const times = timesRun(journal, toolName)
    const mayBeNone = inDoubt.has(toolName) || (toolName === 'gather' && inDoubt.has('give'))
    assert.ok(times === 1 || (times === 0 && mayBeNone), `${toolName} ran ${times} times`)
  }
  // What a model had ordered whose answer was cut off is not carried out.
  const carriedOut = bodiesOf(records, 'tool-result').filter(({ outcome }) => outcome !== 'aborted')
  const chosen = carriedOut.filter(({ toolName }) => toolName === 'choose')
  if (!inDoubt.has('choose'))
    assert.deepEqual(
      chosen.map(({ result }) => result),
      [['a', 'c']],
    )
  // An accepted hand-off happens; a tool that may have run before the kill is not run again.
  const wasGiven = bodiesOf(left, 'queue.added').length > 0 || !inDoubt.has('give')
  const agents = bodiesOf(records, 'turn.started').map(({ agentId }) => agentId)
  assert.deepEqual(agents, wasGiven ? ['planner', 'builder'] : ['planner'])
  checkEnds(records, agents.length)
  const planned = bodiesOf(records, 'text-delta').filter(({ text }) => text.includes('give the floor'))
  assert.equal(planned.length, wasGiven ? 0 : 1, 'who has given the floor says no more')
  const output = wasGiven ? { files: ['a', 'c'] } : undefined
  assert.deepEqual(bodiesOf(records, 'run.ended')[0]?.output, output)
}

test(
  'crash matrix of a run with a choice of several, a hand-off, a tool that is suspended and an answer that is data',
  { timeout: 580_000 },
  (t) => killEverywhere(t, 'floor', checkFloor),
)
