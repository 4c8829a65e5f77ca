import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * In the page: what fades in or out is looked at once it stands still, since half-way it has no contrast. What never ends is not waited for.
 * Only what is wrong is described, and told: of all else there is so much that it takes longer than the looking.
 */
const look = `Promise.allSettled(
  document.getAnimations()
    .filter(({ playState, effect }) => playState === 'running' && Number.isFinite(effect?.getComputedTiming().endTime))
    .map(({ finished }) => finished)
)
  .then(() => axe.run({ resultTypes: ['violations'], preload: false }))
  .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, html }) => id + ': ' + target.join(' ') + ': ' + html)))`

/**
 * What axe-core finds wrong in a page: rule, place, element. It gets in by the browser's own protocol, which no policy of the page
 * forbids.
 */
export async function findingsOf(page: Page): Promise<string[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axe)
  return page.evaluate<string[]>(look)
}
