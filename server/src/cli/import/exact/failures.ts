/** The import cannot begin; the text says why. */
export class ExactRefusal extends Error {}
export class ExactStopped extends Error {}
