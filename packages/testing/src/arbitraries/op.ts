import type { AppendTextOp, DeltaFrame, Op, RemoveOp, SetOp } from '@inspan/protocol/log'
import * as fc from 'fast-check'
import { arbitraryCount, arbitraryId, arbitraryJsonValue, arbitraryText } from './json.ts'
import { listOf, shape } from './shape.ts'

const path = fc.array(arbitraryId, { minLength: 1, maxLength: 5 })

export const arbitraryOp: fc.Arbitrary<Op> = fc.oneof(
  shape<SetOp>({ type: fc.constant('set'), path, value: arbitraryJsonValue }, {}),
  shape<AppendTextOp>({ type: fc.constant('append-text'), path, value: arbitraryText }, { len: arbitraryCount }),
  shape<RemoveOp>({ type: fc.constant('remove'), path }, { from: arbitraryCount, to: arbitraryCount }),
)

export const arbitraryDeltaFrame: fc.Arbitrary<DeltaFrame> = shape<DeltaFrame>(
  { type: fc.constant('delta'), seq: arbitraryCount, operations: listOf(arbitraryOp, 5) },
  {},
)
