import { describe } from 'node:test'
import { opencodeCli, type RealFlavour } from './opencode-cli.ts'
import { testSilence, testStoppedUntold } from './opencode-silence.ts'
import { testCutIsFatal, testNamelessMcp } from '../other-ways.ts'
import { testCli } from '../scenarios.ts'
import { SIDE_BY_SIDE } from '../side-by-side.ts'

const UNSUPPORTED = {
  'endless-command': 'it tells of a call when it is over',
  'head-moved': 'it is resumed at our anchor, never at its end',
  mcp: 'it does not report which server a tool is from',
  'provider-429': 'it retries silently',
  'provider-500': 'it retries silently and without end',
  'provider-gone': 'it retries silently and without end',
}

/** Tests OpenCode, or a program built on it, with a process for every turn. */
export function testOpencodePrint(flavour: RealFlavour, { isCutFatal }: { readonly isCutFatal: boolean }): void {
  const cli = opencodeCli(
    flavour,
    isCutFatal ? { ...UNSUPPORTED, 'provider-cut': 'it does not ask again' } : UNSUPPORTED,
  )

  testCli(cli)

  describe(`${flavour.profile.title}, its own way`, SIDE_BY_SIDE, () => {
    testSilence(cli)
    testStoppedUntold(cli)
    if (isCutFatal) testCutIsFatal(cli)
    testNamelessMcp(cli, 'toy_echo')
  })
}
