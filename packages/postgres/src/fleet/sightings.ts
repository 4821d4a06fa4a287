/** An owner as the database showed it at one moment. */
export interface OwnerSighting {
  readonly owner: string
  /** Raised by the owner as long as it lives. */
  readonly beat: number
  /** How long ago it was raised, by the clock of the database. */
  readonly ageMs: number
  /** Whether its connection still holds its lock. A process that was killed loses it at once, a stopped one does not. */
  readonly isLocked: boolean
}

/** Times of this process's monotonic clock, in milliseconds. */
export interface Look {
  readonly askedAt: number
  readonly answeredAt: number
}

export interface LivenessLimits {
  /** How long an owner without its lock may stand still. */
  readonly unlocked: number
  readonly locked: number
}

const PATIENCE: LivenessLimits = { unlocked: 700, locked: 6000 }

interface Seen {
  readonly beat: number
  /** The owner had raised it by then. */
  readonly since: number
  readonly isDead: boolean
  /** Whether it has not lost a lock that it held: it still has it, or is about to take it. */
  readonly isSteady: boolean
}

/**
 * Decides who is dead by watching: an owner whose counter stands still. Only this process's own clock counts, from the
 * answer of the first look to the question of the last one, so neither slow answers nor a pause of this process can make
 * a living owner look dead. Within the time between two looks, the clock of the database says when a counter was raised:
 * if that clock jumps, it is wrong by no more than that.
 */
export class Sightings {
  readonly #patience: LivenessLimits
  #owners = new Map<string, Seen>()
  #askedAt = 0

  constructor(patience: LivenessLimits = PATIENCE) {
    this.#patience = patience
  }

  /** Takes in a look at all owners. Returns those that it showed to be dead. */
  look(sightings: readonly OwnerSighting[], { askedAt, answeredAt }: Look): readonly string[] {
    const died: string[] = []
    const next = new Map<string, Seen>()
    for (const { ageMs, beat, isLocked, owner } of sightings) {
      // An owner beats for the first time once it has its lock. A busy machine may take a while until then.
      const isSteady = isLocked || beat === 0
      const before = this.#owners.get(owner)
      if (before === undefined || before.beat !== beat) {
        // The look before still showed the older one.
        const earliest = before === undefined ? answeredAt : this.#askedAt
        const since = Math.min(answeredAt, Math.max(earliest, answeredAt - ageMs))
        next.set(owner, { beat, since, isDead: false, isSteady })
        continue
      }
      const still = askedAt - before.since
      const isDead = before.isDead || still >= (isSteady ? this.#patience.locked : this.#patience.unlocked)
      if (isDead && !before.isDead) died.push(owner)
      next.set(owner, { ...before, isDead, isSteady })
    }
    this.#owners = next
    this.#askedAt = askedAt
    return died
  }

  isDead(owner: string): boolean {
    return this.#owners.get(owner)?.isDead === true
  }

  /** Returns those that are dead and still in the database. */
  dead(): readonly string[] {
    return [...this.#owners].flatMap(([owner, { isDead }]) => (isDead ? [owner] : []))
  }

  /** Returns when the next look can show a death, if an owner that lost its lock stands still. */
  nextDeath(): number | undefined {
    const times = [...this.#owners.values()]
      .filter(({ isDead, isSteady }) => !isDead && !isSteady)
      .map(({ since }) => since + this.#patience.unlocked)
    return times.length === 0 ? undefined : Math.min(...times)
  }

  /** Forgets everything: what was seen before a break of the connection proves nothing. */
  clear(): void {
    this.#owners = new Map()
  }
}
