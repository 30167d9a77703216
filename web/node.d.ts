// The pages take their types from the server's schemas, and a file behind those imports something of Node. Types are all
// that crosses: the build has no Node to give.
declare module 'node:*'
