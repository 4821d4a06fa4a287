/** Thrown inside the reader to stop at once. `readCommand` turns it into a reading that is not ok. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
}
