export type { LanguageModel } from './language-model.ts'
export { DEFAULT_MAX_STEPS, nativeDriver, type NativeDriverOptions } from './native-driver.ts'
export { toPrompt } from './prompt.ts'
