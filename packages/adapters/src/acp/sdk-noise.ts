/**
 * Agents that are built on the protocol's own library write every error they answer to standard error as well, over many
 * lines: the request and the error, as the inspector prints objects.
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
