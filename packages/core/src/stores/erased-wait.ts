import type { Wait } from '@inspan/protocol'

/** Returns a wait without its content: only what ties its records together stays. */
export function erasedWait(wait: Wait): Wait {
  return {
    id: wait.id,
    kind: wait.kind,
    description: '',
    subject: {
      ...(wait.subject.hash === undefined ? {} : { hash: wait.subject.hash }),
      ...(wait.subject.judgedAs === undefined ? {} : { judgedAs: wait.subject.judgedAs }),
    },
    ...(wait.interrupted === undefined ? {} : { interrupted: true }),
    ...(wait.run === undefined ? {} : { run: wait.run }),
    ...(wait.turn === undefined ? {} : { turn: wait.turn }),
    ...(wait.call === undefined ? {} : { call: wait.call }),
    openedAt: wait.openedAt,
    at: wait.at,
  }
}
