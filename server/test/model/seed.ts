import { randomInt } from 'node:crypto'

/**
 * Drawn anew for each run, and named by the tests, so that many runs see many worlds; `npm run test:long` draws more of
 * them. MODEL_SEED repeats a run that failed. On a build server it is always the same: what fails there is due to the
 * change that it looks at.
 */
export const seed = Number(process.env.MODEL_SEED ?? (process.env.CI === 'true' ? 20_260_101 : randomInt(2 ** 31)))
