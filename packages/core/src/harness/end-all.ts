/**
 * Runs all steps, one after the other: a failing one must not keep the rest from running. Then throws the first
 * failure.
 */
export async function endAll(steps: Iterable<() => Promise<void>>): Promise<void> {
  const failures: unknown[] = []
  for (const step of steps) {
    try {
      await step()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}
