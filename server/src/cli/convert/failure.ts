/** The export cannot be converted; the message says where and why, for the person in front of the terminal. */
export class ConvertFailure extends Error {
  override readonly name = 'ConvertFailure'
}
