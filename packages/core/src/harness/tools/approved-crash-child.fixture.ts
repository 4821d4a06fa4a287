/**
 * The process that `approved-crash.test.ts` starts: a plan of a foreign program is approved, and the process is killed
 * as soon as that is on disk. Run as: node approved-crash-child.fixture.ts <database> <live|gone|found>. `gone`: the
 * program that asked is gone when its plan is approved. `found`: it belonged to another process.
 */
import type { Append } from '@inspan/protocol/store'
import { SqliteStore } from '@inspan/stores'
import { HarnessBench } from '../harness.fixture.ts'
import { planners } from './planners.fixture.ts'

class KilledAtTheApproval extends SqliteStore {
  override async append(append: Append): Promise<number> {
    const seq = await super.append(append)
    if (append.records.some(({ body }) => body.type === 'wait.answered')) process.kill(process.pid, 'SIGKILL')
    return seq
  }
}

const [file = '', how = ''] = process.argv.slice(2)
const storage = new KilledAtTheApproval({ url: `file:${file}` })
const bench = (): HarnessBench => new HarnessBench([], { storage, modes: planners().modes })
const first = bench()
if (how !== 'found') await first.harness.sendMessage({ content: 'Plan.' })
if (how === 'gone') await first.harness.destroy()
const { harness } = how === 'gone' ? bench() : first
await harness.selectOrCreateThread()
await harness.respondToToolSuspension({ resumeData: { action: 'approved', feedback: 'Mind the tests.' } })
