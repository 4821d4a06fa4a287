/**
 * Recognises errors that agents built on the protocol's own library answer and also write to standard error: the
 * request and the error over many lines, as `util.inspect` prints objects.
 */
export class SdkNoise {
  #isInside = false

  isNoise(line: string): boolean {
    if (line.startsWith('Error handling request {') || line.startsWith('Error handling notification {')) {
      this.#isInside = !line.endsWith('}')
      return true
    }
    if (!this.#isInside) return false
    if (line === '}') this.#isInside = false
    return true
  }
}
