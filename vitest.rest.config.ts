import { longFiles } from './server/test/gate/long.ts'
import all from './vitest.config.ts'

/** `npm run test:rest`: what `npm test` leaves out, that is whole services, browsers, other programs, and what asks a lot of the database. */
export default { ...all, test: { ...all.test, include: longFiles } }
