import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { rulesOf, type CorpusGroup } from './corpus/corpus-group.fixture.ts'
import { denied, reordered } from './corpus/denies.fixture.ts'
import {
  everydayAllows,
  everydayCopies,
  everydayDenies,
  everydayTool,
  everydayYolo,
} from './corpus/everyday.fixture.ts'
import { pipedCode } from './corpus/piped-code.fixture.ts'
import { indirect } from './corpus/indirect.fixture.ts'
import {
  keptBelow,
  keptBroadly,
  keptByName,
  keptElsewhere,
  keptHidden,
  keptYolo,
} from './corpus/kept-by-git.fixture.ts'
import { launched, launchedDenied } from './corpus/launchers.fixture.ts'
import { lookers, smuggled } from './corpus/lookers.fixture.ts'
import { madeFiles, madeUnderStars } from './corpus/made-files.fixture.ts'
import { namedFiles, roundaboutFiles } from './corpus/named-files.fixture.ts'
import { noEditsAllowed, noEditsCategory, noEditsGit, noEditsTool, noEditsYolo } from './corpus/no-edits.fixture.ts'
import { pastAllows, pastDenies } from './corpus/past-rules.fixture.ts'
import { roundabout } from './corpus/roundabout.fixture.ts'
import { runningOptions } from './corpus/running-options.fixture.ts'
import { spelledOut } from './corpus/spelled-out.fixture.ts'
import { filesNamedIndirectly } from './corpus/files-named-indirectly.fixture.ts'
import { allowedCategory, allowedTool, files, noCommands, noEdits, writable } from './corpus/whole-tools.fixture.ts'
import { createPolicy } from './index.ts'

const GROUPS: readonly CorpusGroup[] = [
  pastAllows,
  pastDenies,
  lookers,
  smuggled,
  denied,
  reordered,
  indirect,
  pipedCode,
  launched,
  launchedDenied,
  roundabout,
  madeFiles,
  madeUnderStars,
  everydayAllows,
  everydayCopies,
  everydayDenies,
  everydayTool,
  everydayYolo,
  runningOptions,
  spelledOut,
  allowedTool,
  allowedCategory,
  noEdits,
  noEditsYolo,
  noEditsCategory,
  noEditsTool,
  noEditsAllowed,
  noEditsGit,
  noCommands,
  files,
  namedFiles,
  roundaboutFiles,
  filesNamedIndirectly,
  writable,
  keptYolo,
  keptBelow,
  keptBroadly,
  keptByName,
  keptElsewhere,
  keptHidden,
]

suite('the right verdict for', () => {
  for (const group of GROUPS) {
    test(`${group.cases.length} commands: ${group.title}`, () => {
      const policy = createPolicy({ rules: rulesOf(group), cwd: '/repo', home: '/home/me' })
      const wrong = group.cases.flatMap(([command, verdict, why]) => {
        const call = { toolCallId: 'call', toolName: 'execute_command', args: { command } }
        const decided = policy.decide(call, { yolo: group.yolo === true })
        if (decided.policy === verdict) return []
        return [`${command}\n  must ${verdict} (${why}), but ${decided.policy}: ${decided.reason}`]
      })
      assert.equal(wrong.length, 0, `\n${wrong.join('\n')}`)
    })
  }

  test('at least 300 commands, none twice under the same rules', () => {
    assert.ok(GROUPS.reduce((count, group) => count + group.cases.length, 0) >= 300)
    for (const { cases, title } of GROUPS) {
      assert.equal(new Set(cases.map(([command]) => command)).size, cases.length, title)
    }
  })
})
