/** Of a normal distribution, 95 % lie so many deviations around the middle. */
const z = 1.959964

/** The share of hits that are right, with its Wilson interval of 95 %, which holds for few labels, too. */
export function precisionOf(right: number, labelled: number) {
  const share = right / labelled
  const middle = (share + z ** 2 / (2 * labelled)) / (1 + z ** 2 / labelled)
  const half =
    (z * Math.sqrt((share * (1 - share)) / labelled + z ** 2 / (4 * labelled ** 2))) / (1 + z ** 2 / labelled)
  return { labelled, right, share, low: Math.max(0, middle - half), high: Math.min(1, middle + half) }
}
