/**
 * A connection to the database that takes one query at a time, and is asked another meanwhile, says so once in a process, and the
 * next version of `pg` refuses it. Here the run fails.
 */
process.on('warning', (warning) => {
  if (warning.message.includes('client.query()')) throw warning
})
