import { mergeConfig } from 'vitest/config'
import { longFiles } from './server/test/gate/long.ts'
import all from './vitest.config.ts'

/** `npm test`: what each change asks, in some minutes. */
export default mergeConfig(all, { test: { exclude: ['**/node_modules/**', ...longFiles] } })
