// A model file that knows its versions, asked for one that never was.
const bit<32> __v1model_version = 20000101;
