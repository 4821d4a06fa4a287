/** Splits lines into commands: several are written in one line, so that the lists stay short. */
export function commandsIn(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => line.split(' · '))
}
