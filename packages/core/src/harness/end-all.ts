/** Does everything, one after the other: what fails must not keep the rest from being let go. Then the first failure is told. */
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
